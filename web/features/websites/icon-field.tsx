import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { ICON_TYPES, MAX_ICON_BYTES } from '../../../contract/limits.ts';
import { api, errorText } from '../../lib/api.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { ImageIcon } from '../../ui/icons.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';

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
        JPG or PNG up to 1000x1000 pixels, at most {MAX_ICON_BYTES / 1024 / 1024} MB. Visitors see it on the sign-in page.
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

/** Why a file cannot be the icon or could not be uploaded, as title and text of a notification. */
class UploadFailure extends Error {
  readonly title: string;

  constructor(title: string, text: string) {
    super(text);
    this.title = title;
  }
}

const TYPES: readonly string[] = [...ICON_TYPES, 'image/jpg'];
const failed = (text: string) => new UploadFailure('Upload failed', text);

/** Returns why a file cannot be uploaded, or null. The service checks it again. */
function faultOfFile({ type, size }: File): UploadFailure | null {
  if (!TYPES.includes(type)) return new UploadFailure('Invalid file type', `Please select a file of type: ${ICON_TYPES.join(', ')}`);
  if (size > MAX_ICON_BYTES) return new UploadFailure('File too large', `File size must be less than ${MAX_ICON_BYTES / 1024 / 1024}MB`);
  return null;
}

/**
 * Uploads an icon and returns its iconUrl.
 * @param onProgress is called with the percentage that is sent, an integer
 * @throws UploadFailure
 */
async function uploadIcon(file: File, onProgress: (percent: number) => void, signal: AbortSignal): Promise<string> {
  const uploadUrl = await requestUploadUrl(signal);
  await send(uploadUrl, file, onProgress, signal);
  return new URL(uploadUrl).pathname;
}

async function requestUploadUrl(signal: AbortSignal): Promise<string> {
  try {
    return (await api.beginUpload({}, { signal })).uploadURL;
  } catch (error) {
    // Every error of the service has a hint; a response of a proxy has none.
    if (error instanceof ApiError && error.status > 0 && !error.hint) throw failed(`HTTP ${error.status}: Failed to get upload parameters`);
    throw failed(errorText(error, 'There was an error uploading your file.'));
  }
}

/** Uses XMLHttpRequest, since fetch does not report the progress of an upload. */
function send(url: string, file: File, onProgress: (percent: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('Content-Type', file.type);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(Math.floor((loaded / Math.max(total, 1)) * 100));
    request.onload = () => (request.status === 200 ? resolve() : reject(failed(messageOf(request.response))));
    request.onerror = () => reject(failed('There was an error uploading your file.'));
    request.onabort = request.onerror;
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function messageOf(body: { error?: string } | null): string {
  return body?.error ?? 'There was an error uploading your file.';
}

/** The icon of a website's form. */
type Icon = {
  /** The icon to save, or null for none. */
  iconUrl: string | null;
  /** The image to display: the file itself while it is uploaded. */
  preview: string | null;
  upload: { name: string; percent: number } | null;
  failure: UploadFailure | null;
  choose(file: File): void;
  cancel(): void;
  remove(): void;
  /** Returns to the icon of the website. */
  reset(): void;
};

/** The state of a form's icon. A selected file is uploaded at once, one at a time. @param first the current icon of the website */
export function useIcon(first: string | null): Icon {
  const [iconUrl, setIconUrl] = useState(first);
  const [preview, setPreview] = useState(first);
  const [upload, setUpload] = useState<Icon['upload']>(null);
  const [failure, setFailure] = useState<UploadFailure | null>(null);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const stop = () => {
    current.current?.abort();
    current.current = null;
    setUpload(null);
    setFailure(null);
  };
  const fail = (reason: UploadFailure) => {
    setFailure(reason);
    toastFailure(reason.title, reason.message);
  };

  const choose = async (file: File) => {
    stop();
    const fault = faultOfFile(file);
    if (fault) return fail(fault);
    const controller = new AbortController();
    current.current = controller;
    setUpload({ name: file.name, percent: 0 });
    void dataUrlOf(file).then((url) => current.current === controller && setPreview(url));
    try {
      const uploaded = await uploadIcon(file, (percent) => setUpload({ name: file.name, percent }), controller.signal);
      setIconUrl(uploaded);
      toast('Icon uploaded', 'Upload successful. Save the website to show it.');
    } catch (error) {
      if (controller.signal.aborted) return;
      setPreview(iconUrl);
      fail(error instanceof UploadFailure ? error : new UploadFailure('Upload failed', 'There was an error uploading your file.'));
    }
    setUpload(null);
  };

  return {
    iconUrl,
    preview,
    upload,
    failure,
    choose: (file) => void choose(file),
    cancel: () => {
      stop();
      setPreview(iconUrl);
    },
    remove: () => {
      stop();
      setIconUrl(null);
      setPreview(null);
    },
    reset: () => {
      stop();
      setIconUrl(first);
      setPreview(first);
    },
  };
}

/** The Content-Security-Policy allows images from data: URLs, but not from blob: URLs. */
function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsDataURL(file);
  });
}
