import { CopyButton } from './copy-button.tsx';
import { cx } from './cx.ts';
import { Tooltip } from './tooltip.tsx';

/** Code with a name and a button that copies it; long lines scroll, by keyboard too. @param prose lines break, and a long text scrolls */
export function CodeBlock({ label, code, prose = false }: { label: string; code: string; prose?: boolean }) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-control border border-line bg-sunk">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line pl-4 text-[0.8125rem] text-muted">
        <span className="min-w-0 truncate font-mono">{label}</span>
        <Tooltip text="Copy the code">
          <CopyButton text={code} what={label} />
        </Tooltip>
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1)
        tabIndex={0}
        className={cx(
          'p-4 font-mono text-[0.8125rem] leading-6 -outline-offset-2',
          prose ? 'max-h-80 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]' : 'overflow-x-auto',
        )}
      >
        <code>{code}</code>
      </pre>
    </figure>
  );
}
