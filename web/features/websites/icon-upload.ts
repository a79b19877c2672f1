import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { ICON_TYPES, MAX_ICON_BYTES } from '../../../contract/limits.ts';
import { api, errorText } from '../../lib/api.ts';
import { toast, toastFailure } from '../../ui/toast.tsx';

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
function faultOfFile({ type, size }: Pick<File, 'type' | 'size'>): UploadFailure | null {
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
export type Icon = {
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
