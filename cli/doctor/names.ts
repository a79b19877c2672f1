import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isThisMachine } from '../../contract/rules.ts';
import type { SiteNames } from '../../diagnostics/website/look.ts';
import { usageError } from '../exit.ts';

/** The DNS as doctor asks it. A name or record that is not there is no error; a name server that fails is. */
export type Names = SiteNames & {
  /** Mail servers, best first; `.` alone says that there is none (RFC 7505). */
  mailServers(name: string): Promise<string[]>;
  addresses(name: string): Promise<string[]>;
};

const TIMEOUT_MS = 2_500;
const TRIES = 2;
// The last one: a record may refer to a name that cannot be one.
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * @param servers `ip[:port],…`, as the service's DNS_SERVERS; unset: the system's name servers
 * @throws CommandError usage
 */
export function openNames(servers: string | undefined): Names {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const own = servers?.trim() ? servers.split(',').map((server) => server.trim()) : null;
  try {
    if (own) resolver.setServers(own);
  } catch {
    throw usageError('DNS_SERVERS is not valid.', 'Give addresses of name servers, such as 9.9.9.9,127.0.0.1:5353.');
  }
  const orNone = async <Found>(asked: Promise<Found[]>): Promise<Found[]> => {
    try {
      return await asked;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (ABSENT.has(code)) return [];
      throw new Error(`the name server did not answer (${code})`, { cause: error });
    }
  };
  const addresses = async (name: string) => (await Promise.all([orNone(resolver.resolve4(name)), orNone(resolver.resolve6(name))])).flat();
  return {
    texts: async (name) => (await orNone(resolver.resolveTxt(name))).map((chunks) => chunks.join('')),
    mailServers: async (name) => {
      const found = await orNone(resolver.resolveMx(name));
      return found.sort((one, other) => one.priority - other.priority).map(({ exchange }) => exchange || '.');
    },
    addresses,
    lookup: (host, options, done) => {
      if (!own || isThisMachine(host)) return systemLookup(host, options, done);
      addresses(host).then(
        (found) => {
          const all = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
          if (all.length === 0) done(Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' }), []);
          else if (options.all) done(null, all);
          else done(null, all[0].address, all[0].family);
        },
        (error) => done(Object.assign(error, { code: 'EAI_AGAIN' }), []),
      );
    },
  };
}
