import { IntegrationGuide } from '../../ui/integration-guide.tsx';
import type { TabProps } from './website.ts';

/** How to connect the website: the code of the integration. */
export function SetupTab({ website: { domain } }: TabProps) {
  return (
    <div className="max-w-3xl">
      <IntegrationGuide domain={domain} compact />
    </div>
  );
}
