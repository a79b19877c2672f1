import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { ICON_TYPES } from '../../../contract/limits.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { ImageIcon } from '../../ui/icons.tsx';
import type { Icon } from './icon-upload.ts';

/** Selects an icon by a file dialog or by drag and drop, and shows the progress of the upload. `hideLabel`: a heading above names it. */
export function IconField({ icon, hideLabel = false }: { icon: Icon; hideLabel?: boolean }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [over, setOver] = useState(false);
  const { preview, upload, failure } = icon;

  // A file that is dropped beside the field must not replace the page.
  useEffect(() => {
    const prevent = (event: Event) => event.preventDefault();
    window.addEventListener('dragover', prevent);
    window.addEventListener('drop', prevent);
    return () => {
      window.removeEventListener('dragover', prevent);
      window.removeEventListener('drop', prevent);
    };
  }, []);

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file) icon.choose(file);
  };
  // The pressed button is removed: the focus stays in the field.
  const thenFocus = (action: () => void) => () => {
    action();
    button.current?.focus();
  };

  return (
    <fieldset aria-describedby={`${id}-hint${failure ? ` ${id}-fault` : ''}`} className="min-w-0">
      <legend className={hideLabel ? 'sr-only' : 'mb-1.5 text-sm font-medium'}>
        Icon <span className="font-normal text-muted">(optional)</span>
      </legend>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: drag and drop is an alternative to the button */}
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
          {preview ? (
            <img
              src={preview}
              alt={upload ? '' : 'The icon'}
              width={56}
              height={56}
              className={cx('size-14 bg-[#fcfcfb] object-contain', upload !== null && 'opacity-50')}
            />
          ) : (
            <ImageIcon className="size-5" />
          )}
        </span>
        <div className="min-w-0 grow">
          <div className="-my-1 flex flex-wrap items-center gap-x-1">
            <Button ref={button} variant="secondary" small onClick={() => input.current?.click()}>
              {preview ? 'Replace' : 'Choose file'}
            </Button>
            {upload && (
              <Button variant="quiet" small onClick={thenFocus(icon.cancel)}>
                Cancel upload
              </Button>
            )}
            {icon.iconUrl && !upload && (
              <Button variant="quiet" small onClick={thenFocus(icon.remove)}>
                Remove
              </Button>
            )}
            {!preview && !upload && <span className="px-2 text-sm text-muted max-sm:hidden">or drop it here</span>}
          </div>
          {upload && <Progress name={upload.name} percent={upload.percent} />}
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
            // Otherwise the same file could not be selected again.
            event.target.value = '';
          }}
        />
      </div>
      <p role="status" className="sr-only">
        {upload ? `Uploading ${upload.name}` : icon.iconUrl ? 'The website has an icon.' : 'The website has no icon.'}
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
