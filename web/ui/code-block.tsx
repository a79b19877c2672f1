import { CopyButton } from './copy-button.tsx';
import { Tooltip } from './tooltip.tsx';

/** Code with a name and a button that copies it; long lines scroll, by keyboard too. */
export function CodeBlock({ label, code }: { label: string; code: string }) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-control border border-line bg-sunk">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line pl-4 text-[0.8125rem] text-muted">
        <span className="min-w-0 truncate font-mono">{label}</span>
        <Tooltip text="Copy the code">
          <CopyButton text={code} what={label} />
        </Tooltip>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1) */}
      <pre tabIndex={0} className="overflow-x-auto p-4 font-mono text-[0.8125rem] leading-6 -outline-offset-2">
        <code>{code}</code>
      </pre>
    </figure>
  );
}
