import type pg from 'pg';
import { requireSecretKey } from '../db/secret-key.ts';
import { isServingWith } from '../db/serving-lock.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { KeyEncryption } from './key-encryption.ts';
import { rotateSigningKeys } from './keys.ts';

/**
 * Publishes new signing keys of the OpenID provider, for an operator's command; running instances use them without a restart.
 * @param options.revoke ends the former keys, and every token that they have signed, immediately
 * @throws StartError when SECRET_KEY is not that of the service
 */
export async function rotateByOperator(client: pg.Client, secretKeys: SecretKeys, options: { revoke: boolean }): Promise<void> {
  await requireSecretKey(client, secretKeys);
  const { previous } = secretKeys;
  secretKeys.writePrevious(previous !== null && (await isServingWith(client, previous)));
  await rotateSigningKeys(client, new KeyEncryption(secretKeys), options);
}
