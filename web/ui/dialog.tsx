import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react';
import { CrossIcon } from './icons.tsx';
import { Toaster } from './toaster.tsx';

/**
 * A modal dialog: the browser keeps the focus in it and closes it on Escape.
 * @param first what has the focus at the beginning; the button that closes, when it is left out
 * @param stays a click beside it does not close it: it shows something that cannot be shown again
 */
export function Dialog({
  title,
  first,
  stays = false,
  onClose,
  children,
}: {
  title: string;
  first?: RefObject<HTMLElement | null>;
  stays?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    first?.current?.focus();
    return () => {
      element?.close();
      // What opened it may be gone with what it deleted; the focus must not be lost then.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    };
  }, [first]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape, which is `cancel`
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && !stays && onClose()}
      className="rise m-auto w-[calc(100%-2rem)] max-w-lg rounded-panel border border-line bg-panel p-0 text-ink shadow-raised backdrop:bg-scrim"
    >
      <div className="p-5 sm:p-6">
        <div className="-mt-2 -mr-2 mb-2 flex items-center justify-between gap-4">
          <h2 id={id} className="text-lg font-semibold tracking-tight">
            {title}
          </h2>
          <button
            type="button"
            aria-label="Close"
            onClick={onClose}
            className="grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
          >
            <CrossIcon />
          </button>
        </div>
        {children}
      </div>
      {/* What is said meanwhile: the page's own notifications lie behind the dialog, out of everybody's reach. */}
      <Toaster />
    </dialog>
  );
}
