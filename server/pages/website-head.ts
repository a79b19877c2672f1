import { createHash } from 'node:crypto';
import { accentFault, buttonColors } from '../../contract/colors.ts';
import type { SignInBoot } from '../../contract/pages.ts';

/** What the head of a sign-in page contains for the website that the page is for. */
export type WebsiteHead = {
  /** The path of the website's icon; null: the page has that of the service. */
  iconUrl: string | null;
  /** The style sheet with the website's color, and its hash as a source expression of CSP Level 3 §2.3.1; null: none. */
  style: { css: string; hash: string } | null;
};

const PLAIN: WebsiteHead = { iconUrl: null, style: null };

/** Returns the head of the page for a target. */
export function websiteHeadOf(target: SignInBoot['target']): WebsiteHead {
  if (target.kind !== 'site') return PLAIN;
  const { iconUrl, accent } = target;
  if (!accent || accentFault(accent)) return { iconUrl, style: null };
  const css = cssOf(accent);
  return { iconUrl, style: { css, hash: `'sha256-${createHash('sha256').update(css).digest('base64')}'` } };
}

/** Returns the style sheet that sets the colors of web/ui/theme.css for buttons. Its selector is more specific, since that style sheet comes later. */
function cssOf(accent: string): string {
  const { fill, hover, text, border } = buttonColors(accent);
  const edge = (needed: boolean) => (needed ? 'var(--color-edge)' : 'transparent');
  return `:root:root{--color-action:${fill};--color-action-hover:${hover};--color-on-action:${text};--color-action-edge:light-dark(${edge(border.light)},${edge(border.dark)})}`;
}

/** Returns a Content-Security-Policy that allows the style sheet of a page in addition. */
export const withStyle = (policy: string, style: WebsiteHead['style']): string =>
  style ? policy.replace("style-src 'self'", `style-src 'self' ${style.hash}`) : policy;
