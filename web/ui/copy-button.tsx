import { useEffect, useState } from 'react';
import { copyText } from '../lib/clipboard.ts';
import { toast, toastFailure } from '../lib/toast.ts';
import { CheckIcon, CopyIcon } from './icons.tsx';

const CHECK_MARK_MS = 2000;

/** Copies a text and shows a check mark for two seconds. @param what the thing that is copied, for screen readers */
export function CopyButton({ text, what, notice = 'Code copied successfully' }: { text: string; what: string; notice?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), CHECK_MARK_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async () => {
    const done = await copyText(text);
    setCopied(done);
    if (done) toast('Copied to clipboard', notice);
    else toastFailure('Copy failed', 'Please copy manually');
  };

  return (
    <button
      type="button"
      aria-label={`Copy ${what}`}
      onClick={copy}
      className="grid size-11 shrink-0 place-items-center rounded-control text-muted -outline-offset-2 hover:text-ink"
    >
      {copied ? <CheckIcon className="size-4 text-accent" /> : <CopyIcon />}
    </button>
  );
}
