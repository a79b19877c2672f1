import { createContext, type KeyboardEvent, type ReactNode, useContext, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useHydrated } from '../lib/store.ts';
import { paths } from '../pages.ts';
import { cx } from './cx.ts';
import { CheckIcon, CopyIcon } from './icons.tsx';
import { Disclosure } from './panels.tsx';
import { toast, toastFailure } from './toast.tsx';
import { Tooltip } from './tooltip.tsx';

/** Copies a text and reports it in a notification. Returns false when the browser refuses, as it may without https, or the text is not available. */
export async function copyText(text: string | Promise<string>, notice: string): Promise<boolean> {
  try {
    if (typeof text === 'string') await navigator.clipboard.writeText(text);
    // Safari allows only what begins in the event of the click.
    else
      await navigator.clipboard.write([
        new ClipboardItem({ 'text/plain': text.then((loaded) => new Blob([loaded], { type: 'text/plain' })) }),
      ]);
    toast('Copied to clipboard', notice);
    return true;
  } catch {
    toastFailure('Copy failed', 'Please copy manually');
    return false;
  }
}

/** Receives each text that a button below it has copied. */
export const OnCopied = createContext<(text: string) => void>(() => {});

const CHECK_MARK_MS = 2000;

/** Copies a text and shows a check mark for two seconds. @param what is copied, for screen readers */
export function CopyButton({ text, what, notice = 'Code copied successfully' }: { text: string; what: string; notice?: string }) {
  const onCopied = useContext(OnCopied);
  const hydrated = useHydrated();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), CHECK_MARK_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  return (
    <button
      type="button"
      aria-label={`Copy ${what}`}
      // web/static.tsx copies the texts of a page that no component takes over.
      {...(!hydrated && { 'data-copy': text, 'data-notice': notice })}
      onClick={async () => {
        const isCopied = await copyText(text, notice);
        setCopied(isCopied);
        if (isCopied) onCopied(text);
      }}
      className="grid size-11 shrink-0 place-items-center rounded-control text-muted -outline-offset-2 hover:text-ink"
    >
      {copied ? <CheckIcon className="size-4 text-accent" /> : <CopyIcon />}
    </button>
  );
}

/** A line that is too long wraps: one that scrolled would be cut off on a phone, and by browsers that hide scroll bars. */
const CODE = 'p-4 font-mono text-[0.8125rem] leading-6 whitespace-pre-wrap wrap-anywhere -outline-offset-2';

/** Code with a name and a copy button; long lines wrap. @param prose a long text scrolls */
export function CodeBlock({ label, code, prose = false }: { label: string; code: string; prose?: boolean }) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-control border border-line bg-sunk">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line pl-4 text-[0.8125rem] text-muted">
        <span className="min-w-0 truncate font-mono">{label}</span>
        <Tooltip text="Copy the code">
          <CopyButton text={code} what={label} />
        </Tooltip>
      </figcaption>
      <pre tabIndex={prose ? 0 : undefined} className={cx(CODE, prose && 'max-h-80 overflow-y-auto')}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}

type CodeFile = { path: string; contents: string };

/** Files of code in tabs, with a button that copies the selected one. */
export function CodeFiles({ files }: { files: CodeFile[] }) {
  const id = useId();
  const tabs = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState(0);
  const shown = Math.min(selected, files.length - 1);
  const file = files[shown];

  const move = (event: KeyboardEvent) => {
    const next = nextTab(event.key, shown, files.length);
    if (next === null) return;
    event.preventDefault();
    setSelected(next);
    tabs.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };

  return (
    <div className="min-w-0 overflow-hidden rounded-control border border-line bg-sunk">
      <div className="flex items-stretch justify-between border-b border-line">
        <div ref={tabs} role="tablist" aria-label="Files" className="flex min-w-0 overflow-x-auto" onKeyDown={move}>
          {files.map(({ path }, index) => (
            <button
              key={path}
              id={`${id}-tab-${index}`}
              type="button"
              role="tab"
              aria-selected={index === shown}
              aria-controls={`${id}-panel`}
              tabIndex={index === shown ? 0 : -1}
              onClick={() => setSelected(index)}
              className={cx(
                'min-h-11 border-b-2 px-4 font-mono text-[0.8125rem] whitespace-nowrap -outline-offset-2',
                index === shown ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
              )}
            >
              {path}
            </button>
          ))}
        </div>
        <CopyButton text={file.contents} what={file.path} />
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-tab-${shown}`}>
        <pre
          key={file.path}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable (WCAG 2.1.1)
          tabIndex={0}
          className={cx(CODE, 'max-h-[32rem] overflow-y-auto')}
        >
          <code>{file.contents}</code>
        </pre>
      </div>
    </div>
  );
}

/** Returns the tab that a key moves to, or null for other keys (ARIA Authoring Practices, Tabs). */
function nextTab(key: string, index: number, count: number): number | null {
  if (key === 'ArrowRight') return (index + 1) % count;
  if (key === 'ArrowLeft') return (index + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}

/** Values to paste elsewhere; its children are `Value`. */
export const Values = ({ children }: { children: ReactNode }) => (
  <dl className="divide-y divide-line rounded-control border border-line">{children}</dl>
);

/** A value with its name and a copy button. @param wide the name has more than one short word */
export function Value({ name, value, wide = false }: { name: string; value: string; wide?: boolean }) {
  return (
    <div
      className={`grid grid-cols-[1fr_auto] items-center gap-x-3 pl-3 ${wide ? 'sm:grid-cols-[7.5rem_1fr_auto]' : 'sm:grid-cols-[4rem_1fr_auto]'}`}
    >
      <dt className="pt-2 text-[0.8125rem] text-muted sm:pt-0">{name}</dt>
      <dd className="col-start-1 min-w-0 pb-2 font-mono text-[0.8125rem] leading-5 wrap-anywhere sm:col-start-2 sm:py-2.5">{value}</dd>
      <dd className="col-start-2 row-span-2 row-start-1 sm:col-start-3 sm:row-span-1">
        <CopyButton text={value} what={name.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())} notice={`${name} copied`} />
      </dd>
    </div>
  );
}

/** What an OpenID Connect client needs to know of this service, with copy buttons. */
export function OpenIdValues({ clientId }: { clientId: string }) {
  const issuer = location.origin;
  return (
    <div className="grid gap-3">
      <Values>
        <Value wide name="Issuer" value={issuer} />
        <Value wide name="Client ID" value={clientId} />
      </Values>
      <p className="text-sm">
        <Link href={`${paths.guide}/openid-connect`} className="text-accent underline underline-offset-2">
          Configurations of common clients
        </Link>
      </p>
      <Disclosure summary="Endpoints, for a client without discovery">
        <dl className="divide-y divide-line">
          {ENDPOINTS.map(([name, path]) => (
            <Value key={name} wide name={name} value={issuer + path} />
          ))}
        </dl>
      </Disclosure>
    </div>
  );
}

const ENDPOINTS = [
  ['Discovery', '/.well-known/openid-configuration'],
  ['Authorization', '/oauth/authorize'],
  ['Token', '/oauth/token'],
  ['User info', '/oauth/userinfo'],
  ['JWKS', '/oauth/jwks'],
  ['Logout', '/oauth/logout'],
] as const;

/** Code in an empty list, whose other text is centered. */
export const Snippet = ({ label, code }: { label: string; code: string }) => (
  <div className="w-full min-w-0 max-w-xl text-left">
    <CodeBlock label={label} code={code} />
  </div>
);
