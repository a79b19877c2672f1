import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretKeys } from '../secret-keys.ts';

/** How long an upload address is valid. */
export const UPLOAD_SECONDS = 600;

const PATH = '/objects/uploads/';
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a part of a path has the form of an upload's id; nothing else is passed to the storage. */
export const isUploadId = (text: string): boolean => ID.test(text);

/** Returns the path of an upload, the `iconUrl` of a website. */
export const uploadPath = (id: string): string => `${PATH}${id}`;

/** Returns the id in an iconUrl, or null when it is not the path of an upload. */
export function uploadIdOf(iconUrl: string): string | null {
  const id = iconUrl.startsWith(PATH) ? iconUrl.slice(PATH.length) : '';
  return isUploadId(id) ? id : null;
}

/** Signed addresses, each of which permits to PUT one file; the signature covers the id and the expiry. */
export type UploadUrls = {
  /** @param expires Unix seconds */
  sign(id: string, expires: number): string;
  /** Whether the query of an address was signed for this id. The database checks the expiry. */
  isSigned(id: string, query: { expires?: unknown; signature?: unknown }): boolean;
};

export function createUploadUrls(keys: SecretKeys, publicUrl: string): UploadUrls {
  const mac = (key: Buffer, id: string, expires: string) => createHmac('sha256', key).update(`upload|put|${id}|${expires}`).digest();
  return {
    sign: (id, expires) => {
      const query = new URLSearchParams({
        expires: String(expires),
        signature: mac(keys.writing, id, String(expires)).toString('base64url'),
      });
      return `${publicUrl}${uploadPath(id)}?${query}`;
    },
    isSigned: (id, { expires, signature }) => {
      if (typeof expires !== 'string' || !/^\d{1,12}$/.test(expires) || typeof signature !== 'string') return false;
      const given = Buffer.from(signature, 'base64url');
      return keys.reading.some((key) => {
        const expected = mac(key, id, expires);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}
