import { IntegrationGuide } from '../../ui/integration-guide.tsx';
import { Checklist } from './checklist.tsx';
import type { TabProps } from './website.ts';

/** The set-up of a website: its steps with their states, live, and the code of the integration. */
export function SetupTab({ website }: TabProps) {
  return (
    <div className="grid max-w-3xl gap-12">
      <Checklist website={website} />
      <section id="code" aria-labelledby="code-title" className="grid min-w-0 scroll-mt-6 gap-6">
        <h2 id="code-title" className="text-lg font-semibold tracking-tight">
          Code for your website
        </h2>
        <IntegrationGuide domain={website.domain} compact />
      </section>
    </div>
  );
}
