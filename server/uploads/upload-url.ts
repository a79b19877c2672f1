import { createHmac, timingSafeEqual } from 'node:crypto';

/** Life of an upload address, in seconds. */
export const UPLOAD_SECONDS = 600;

const PATH = '/objects/uploads/';
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a part of a path can be the id of an upload: nothing else ever reaches the disk or the bucket. */
export const isUploadId = (text: string): boolean => ID.test(text);

/** Where an upload is found, as a site's iconUrl names it. */
export const uploadPath = (id: string): string => `${PATH}${id}`;

/** @returns the id in an iconUrl, or null when it is none of ours */
export function uploadIdOf(iconUrl: string): string | null {
  const id = iconUrl.startsWith(PATH) ? iconUrl.slice(PATH.length) : '';
  return isUploadId(id) ? id : null;
}

/** Addresses that whoever holds one may PUT a file to; they are bound to the upload and its end. */
export type UploadUrls = {
  /** @param expires Unix seconds */
  sign(id: string, expires: number): string;
  /** Whether the query of an address is the one that was given out for this id. Its end is the database's to judge. */
  isSigned(id: string, query: { expires?: unknown; signature?: unknown }): boolean;
};

/** @param key SECRET_KEY, the same in all instances */
export function createUploadUrls(key: Buffer, publicUrl: string): UploadUrls {
  const mac = (id: string, expires: string) => createHmac('sha256', key).update(`upload|put|${id}|${expires}`).digest();
  return {
    sign: (id, expires) => {
      const query = new URLSearchParams({ expires: String(expires), signature: mac(id, String(expires)).toString('base64url') });
      return `${publicUrl}${uploadPath(id)}?${query}`;
    },
    isSigned: (id, { expires, signature }) => {
      if (typeof expires !== 'string' || !/^\d{1,12}$/.test(expires) || typeof signature !== 'string') return false;
      const given = Buffer.from(signature, 'base64url');
      const right = mac(id, expires);
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}
