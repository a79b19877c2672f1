import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { DownIcon } from './icons.tsx';

/** A button that shows a short list of links and buttons under it; Escape, a choice or a click elsewhere closes it. */
export function Menu({ label, icon, children }: { label: ReactNode; icon?: ReactNode; children: ReactNode }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) return;
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    document.addEventListener('keydown', closeByKey);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
      document.removeEventListener('keydown', closeByKey);
    };
  }, [open]);

  return (
    <div ref={root} className="relative min-w-0">
      <button
        ref={button}
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex min-h-11 max-w-full items-center gap-2 rounded-control px-3 text-sm text-muted hover:bg-sunk hover:text-ink aria-expanded:bg-sunk aria-expanded:text-ink"
      >
        {icon}
        {label}
        <DownIcon className="size-3.5" />
      </button>
      {open && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on an entry is a click too
        // biome-ignore lint/a11y/noStaticElementInteractions: it only closes after what its entries do
        <div
          id={id}
          onClick={() => setOpen(false)}
          className="rise absolute right-0 z-40 mt-1 min-w-56 max-w-[calc(100vw-1rem)] rounded-panel border border-line bg-panel p-1 shadow-raised"
        >
          {children}
        </div>
      )}
    </div>
  );
}

/** How a link or a button in a menu looks. */
export const menuItem = 'flex min-h-11 w-full items-center gap-2 rounded-control px-3 text-left text-sm hover:bg-sunk';
