import { useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { NewApiKey } from './queries.ts';
import { keySnippet } from './snippets.ts';

/** A new key, this once. */
export function ShownKey({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  const text = useRef<HTMLElement>(null);
  return (
    <Dialog title="Your new API key" first={text} stays onClose={onClose}>
      <div className="grid gap-5">
        <p className="text-[0.9375rem] text-muted">
          <strong className="font-medium text-ink">Copy it now: it is shown only this once.</strong> The service keeps nothing but its hash.
          Whoever has the key acts as you, so keep it out of code and of browsers.
        </p>
        <div className="flex items-center gap-1 rounded-control border border-line bg-sunk pl-4">
          <code ref={text} tabIndex={-1} className="min-w-0 grow py-3 font-mono text-[0.8125rem] leading-5 [overflow-wrap:anywhere]">
            {made.key}
          </code>
          <CopyButton text={made.key} what="API key" notice="API key copied" />
        </div>
        <CodeBlock label="try it" code={keySnippet(location.origin, made.key)} />
        <Button className="justify-self-end" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
