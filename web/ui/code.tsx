import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { CopyButton } from './copy-button.tsx';
import { cx } from './cx.ts';
import { Tooltip } from './tooltip.tsx';

/** Code with a name and a copy button; long lines scroll. @param prose lines wrap, and a long text scrolls vertically */
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable (WCAG 2.1.1)
        tabIndex={0}
        className={cx(
          'p-4 font-mono text-[0.8125rem] leading-6 -outline-offset-2',
          prose ? 'max-h-80 overflow-y-auto whitespace-pre-wrap wrap-anywhere' : 'overflow-x-auto',
        )}
      >
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
          className="max-h-[32rem] overflow-auto p-4 font-mono text-[0.8125rem] leading-6 -outline-offset-2"
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
