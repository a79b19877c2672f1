import { ApiError } from '../../../contract/client.ts';
import { ICON_TYPES, MAX_ICON_BYTES } from '../../../contract/limits.ts';
import { call } from '../../lib/call.ts';
import { wordsOf } from '../../lib/failure.ts';

/** Why a file is no icon, or was not taken, in words: title and text of a notification. */
export class UploadFailure extends Error {
  readonly title: string;

  constructor(title: string, text: string) {
    super(text);
    this.title = title;
  }
}

const TYPES: readonly string[] = [...ICON_TYPES, 'image/jpg'];
const failed = (text: string) => new UploadFailure('Upload failed', text);

/** What stands against a file before it is sent; the service looks again. */
export function faultOfFile({ type, size }: Pick<File, 'type' | 'size'>): UploadFailure | null {
  if (!TYPES.includes(type)) return new UploadFailure('Invalid file type', `Please select a file of type: ${ICON_TYPES.join(', ')}`);
  if (size > MAX_ICON_BYTES) return new UploadFailure('File too large', `File size must be less than ${MAX_ICON_BYTES / 1024 / 1024}MB`);
  return null;
}

/**
 * Sends an icon.
 * @param onProgress whole percent that is sent
 * @returns its iconUrl
 * @throws UploadFailure
 */
export async function uploadIcon(file: File, onProgress: (percent: number) => void, signal: AbortSignal): Promise<string> {
  const uploadUrl = await askWhere(signal);
  await send(uploadUrl, file, onProgress, signal);
  return new URL(uploadUrl).pathname;
}

async function askWhere(signal: AbortSignal): Promise<string> {
  try {
    return (await call<'beginUpload'>('POST', '/api/objects/upload', {}, signal)).uploadURL;
  } catch (error) {
    // An answer that is not the service's own, from a proxy say, has no sentence.
    if (error instanceof ApiError && error.status > 0 && !error.hint) throw failed(`HTTP ${error.status}: Failed to get upload parameters`);
    throw failed(wordsOf(error, 'There was an error uploading your file.'));
  }
}

/** XMLHttpRequest, since fetch does not tell how far a body has gone. */
function send(url: string, file: File, onProgress: (percent: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('Content-Type', file.type);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(Math.floor((loaded / Math.max(total, 1)) * 100));
    request.onload = () => (request.status === 200 ? resolve() : reject(failed(sentenceOf(request.response))));
    request.onerror = () => reject(failed('There was an error uploading your file.'));
    request.onabort = request.onerror;
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function sentenceOf(body: { error?: string } | null): string {
  return body?.error ?? 'There was an error uploading your file.';
}
