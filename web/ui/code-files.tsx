import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { CopyButton } from './copy-button.tsx';
import { cx } from './cx.ts';

export type CodeFile = { path: string; contents: string };

/** Several files of code, one at a time: tabs with their names, the code, a button that copies the file that is shown. */
export function CodeFiles({ files }: { files: CodeFile[] }) {
  const id = useId();
  const tabs = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState(0);
  const shown = Math.min(chosen, files.length - 1);
  const file = files[shown];

  const move = (event: KeyboardEvent) => {
    const next = neighbour(event.key, shown, files.length);
    if (next === null) return;
    event.preventDefault();
    setChosen(next);
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
              onClick={() => setChosen(index)}
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
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1)
          tabIndex={0}
          className="max-h-[32rem] overflow-auto p-4 font-mono text-[0.8125rem] leading-6 -outline-offset-2"
        >
          <code>{file.contents}</code>
        </pre>
      </div>
    </div>
  );
}

/** Where a key leads to from a tab, or null when it is none of theirs (ARIA Authoring Practices, Tabs). */
function neighbour(key: string, index: number, count: number): number | null {
  if (key === 'ArrowRight') return (index + 1) % count;
  if (key === 'ArrowLeft') return (index + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}
