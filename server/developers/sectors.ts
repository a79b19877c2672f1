import type { Transaction } from 'sequelize';
import type { Application, Orm } from '../platform/db/models.ts';
import { registrableOf } from '../websites/domains.ts';

/**
 * Returns what the `sub` of an application's people is derived from, besides the address (OpenID Connect Core §8.1): the host of its
 * redirect URIs, where all are on one host of a domain that the owner has proven, else the client_id. So no one gets the subjects of a
 * host of others.
 * @param owner the address of its owner
 */
export async function sectorOf(
  { Website, Op }: Orm,
  { clientId, redirectUris }: Application,
  owner: string,
  transaction: Transaction,
): Promise<string> {
  const hosts = new Set(redirectUris.map((uri) => (uri.startsWith('https://') ? new URL(uri).host : '')));
  const [host] = hosts;
  if (hosts.size !== 1 || host === '') return clientId;
  const domain = registrableOf(new URL(redirectUris[0]).hostname);
  const proven = domain && (await Website.count({ where: { domain, email: owner, provenAt: { [Op.ne]: null } }, transaction }));
  return proven ? host : clientId;
}
