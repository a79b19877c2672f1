import { createContext, useContext, useEffect, useState } from 'react';
import { CheckIcon, CopyIcon } from './icons.tsx';
import { toast, toastFailure } from './toast.tsx';

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
