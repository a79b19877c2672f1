import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** Signing keys and salt of this process alone. */
export class ProcessKeys {
  readonly #salt = randomBytes(32);
  #keys: object[] | undefined;

  async signingKeys(): Promise<readonly object[]> {
    this.#keys ??= [
      { ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'r' },
      { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'e' },
    ];
    return this.#keys;
  }

  async salt(): Promise<Buffer> {
    return this.#salt;
  }
}
