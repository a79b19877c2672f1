import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey, type SecretKeys } from '../secret-keys.ts';

const PURPOSE = 'encryption of oidc_keys';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encryption of the rows of `oidc_keys` by AES-256-GCM, with a key derived from SECRET_KEY. The key ID is authenticated with the text. */
export class KeyEncryption {
  readonly #secretKeys: SecretKeys;

  constructor(secretKeys: SecretKeys) {
    this.#secretKeys = secretKeys;
  }

  /** Returns initialization vector ‖ tag ‖ encrypted text. */
  encrypt(kid: string, text: Buffer): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', deriveKey(this.#secretKeys.writing, PURPOSE), iv).setAAD(Buffer.from(kid));
    const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]);
  }

  /** Returns the text, or null when it was encrypted with a different SECRET_KEY or for another key ID. */
  decrypt(kid: string, sealed: Buffer): Buffer | null {
    for (const key of this.#secretKeys.reading) {
      const text = decryptWith(key, kid, sealed);
      if (text) return text;
    }
    return null;
  }

  /** Returns whether a row was encrypted with the key that new rows are encrypted with. */
  isCurrent(kid: string, sealed: Buffer): boolean {
    return decryptWith(this.#secretKeys.writing, kid, sealed) !== null;
  }
}

function decryptWith(secretKey: Buffer, kid: string, sealed: Buffer): Buffer | null {
  const iv = sealed.subarray(0, IV_BYTES);
  const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', deriveKey(secretKey, PURPOSE), iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(kid)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}
