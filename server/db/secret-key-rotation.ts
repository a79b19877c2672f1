import type pg from 'pg';
import type { Log } from '../log.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { replaceFingerprint } from './secret-key.ts';
import { isServingWith } from './serving-lock.ts';

const CHECK_MS = 5_000;

type Parts = {
  core: pg.Pool;
  secretKeys: SecretKeys;
  log: Log;
  /** Called when no other instance needs SECRET_KEY_PREVIOUS, to encrypt with SECRET_KEY what is stored. */
  encryptAgain(): Promise<void>;
};

/**
 * Replaces SECRET_KEY_PREVIOUS by SECRET_KEY without a pause. As long as an instance runs that has only the former key, this one
 * makes links, codes and everything else with the former key too, so that any instance can read them.
 */
export class SecretKeyRotation {
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;
  #isReplaced = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Checks once which key is to be used, and then regularly; does nothing without SECRET_KEY_PREVIOUS. */
  async start(): Promise<void> {
    const { secretKeys } = this.#parts;
    if (!secretKeys.previous) return;
    secretKeys.writePrevious(true);
    await this.#check();
    if (!this.#isReplaced)
      this.#parts.log.info('instances with SECRET_KEY_PREVIOUS as their only key are running: it is used until they have stopped');
    this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const { core, secretKeys, log, encryptAgain } = this.#parts;
    const previous = secretKeys.previous as Buffer;
    try {
      const isUsed = await isServingWith(core, previous);
      secretKeys.writePrevious(isUsed);
      if (isUsed || this.#isReplaced) return;
      await replaceFingerprint(core, secretKeys.writing, previous);
      await encryptAgain();
      this.#isReplaced = true;
      log.info('SECRET_KEY has replaced SECRET_KEY_PREVIOUS, which can be removed after a day');
    } catch (error) {
      log.debug({ err: error }, 'the rotation of SECRET_KEY waits for the database');
    }
  }
}
