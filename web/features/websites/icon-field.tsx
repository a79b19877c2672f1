import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { ICON_TYPES } from '../../../contract/limits.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { ImageIcon } from '../../ui/icons.tsx';
import type { Icon } from './use-icon.ts';

/** Chooses an icon, by a file dialog or by dropping a file, and shows how far it is sent. */
export function IconField({ icon }: { icon: Icon }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [over, setOver] = useState(false);
  const { picture, sending, failure } = icon;

  // A file that is dropped beside the field must not open in place of the page.
  useEffect(() => {
    const stay = (event: Event) => event.preventDefault();
    window.addEventListener('dragover', stay);
    window.addEventListener('drop', stay);
    return () => {
      window.removeEventListener('dragover', stay);
      window.removeEventListener('drop', stay);
    };
  }, []);

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file) icon.choose(file);
  };
  // The button that was pressed goes away; the focus stays in the field.
  const then = (act: () => void) => () => {
    act();
    button.current?.focus();
  };

  return (
    <fieldset aria-describedby={`${id}-hint${failure ? ` ${id}-fault` : ''}`} className="min-w-0">
      <legend className="mb-1.5 text-sm font-medium">
        Icon <span className="font-normal text-muted">(optional)</span>
      </legend>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is the second way; the button is the first */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={({ currentTarget, relatedTarget }) => !currentTarget.contains(relatedTarget as Node | null) && setOver(false)}
        onDrop={drop}
        className={cx(
          'flex items-center gap-4 rounded-control border border-dashed p-3 transition-colors',
          over ? 'border-accent bg-tint' : failure ? 'border-danger' : 'border-edge/60',
        )}
      >
        <span className="grid size-14 shrink-0 place-items-center overflow-hidden rounded-control border border-line bg-sunk text-muted">
          {picture ? (
            <img
              src={picture}
              alt={sending ? '' : 'The icon'}
              width={56}
              height={56}
              className={cx('size-14 bg-[#fcfcfb] object-contain', sending !== null && 'opacity-50')}
            />
          ) : (
            <ImageIcon className="size-5" />
          )}
        </span>
        <div className="min-w-0 grow">
          <div className="-my-1 flex flex-wrap items-center gap-x-1">
            <Button ref={button} look="secondary" small onClick={() => input.current?.click()}>
              {picture ? 'Replace' : 'Choose file'}
            </Button>
            {sending && (
              <Button look="quiet" small onClick={then(icon.cancel)}>
                Cancel upload
              </Button>
            )}
            {icon.iconUrl && !sending && (
              <Button look="quiet" small onClick={then(icon.remove)}>
                Remove
              </Button>
            )}
            {!picture && !sending && <span className="px-2 text-sm text-muted max-sm:hidden">or drop it here</span>}
          </div>
          {sending && <Progress name={sending.name} percent={sending.percent} />}
        </div>
        <input
          ref={input}
          type="file"
          hidden
          aria-label="Icon"
          accept={ICON_TYPES.join(',')}
          onChange={(event) => {
            const [file] = event.target.files ?? [];
            if (file) icon.choose(file);
            // Or the same file could not be chosen again.
            event.target.value = '';
          }}
        />
      </div>
      <p role="status" className="sr-only">
        {sending ? `Uploading ${sending.name}` : icon.iconUrl ? 'The website has an icon.' : 'The website has no icon.'}
      </p>
      {failure && (
        <p id={`${id}-fault`} className="mt-1.5 text-sm text-danger">
          {failure.title}. {failure.message}
        </p>
      )}
      <p id={`${id}-hint`} className="mt-1.5 text-sm text-muted">
        JPG or PNG up to 1000x1000 pixels, at most 5 MB. Visitors see it on the sign-in page.
      </p>
    </fieldset>
  );
}

function Progress({ name, percent }: { name: string; percent: number }) {
  return (
    <div className="mt-3 grid gap-1.5">
      <progress
        aria-label={`Uploading ${name}`}
        max={100}
        value={percent}
        className="block h-1 w-full appearance-none overflow-hidden rounded-full border-0 bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
      />
      <p className="flex justify-between gap-3 text-[0.8125rem] text-muted">
        <span className="min-w-0 truncate">{percent === 100 ? 'Checking the image…' : name}</span>
        <span className="tabular-nums">{percent}%</span>
      </p>
    </div>
  );
}
