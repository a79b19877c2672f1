import { Link } from 'wouter';
import { isLoopbackRedirectHost, LOCALHOST } from '../../contract/urls.ts';
import { isLocalMode } from '../lib/local-mode.ts';
import { websitePath } from '../pages.ts';

/** Returns whether a person typed or pasted this computer as a domain, and the service accepts it. */
export function isThisComputer(input: string): boolean {
  const [, address] = /^(?:https?:\/\/)?(.+)$/i.exec(input.trim()) ?? [];
  const url = `http://${address}`;
  return isLocalMode && address !== undefined && URL.canParse(url) && isLoopbackRedirectHost(new URL(url).hostname);
}

/** Below a field for a domain that contains this computer: the way on. */
export const LocalhostNote = () => (
  <>
    localhost is registered already:{' '}
    <Link href={websitePath(LOCALHOST)} className="text-accent underline underline-offset-2">
      open its page
    </Link>
  </>
);
