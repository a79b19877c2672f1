import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isThisMachine } from '../../contract/rules.ts';
import { isPublicAddress } from './public-addresses.ts';

export type PublicNamesOptions = {
  /** Name servers as `ip[:port]`; null: the system's. */
  dnsServers: string[] | null;
  /** Which addresses may be connected to; only tests give another rule. */
  isAllowedAddress?: (address: string) => boolean;
  /** Whether localhost may be connected to as well: only where whoever asks sits at this machine. */
  thisMachine?: boolean;
};

/** The DNS for connections to hosts that a user named: it answers with addresses of the public internet alone. */
export type PublicNames = {
  /** TXT records, each as one text. A name that is not there has none. @throws Error when no name server answers */
  texts(name: string): Promise<string[]>;
  /**
   * For a connection, which goes to the very addresses that were checked, so that a name which answers differently the second
   * time gains nothing. Its error has the code ENOTFOUND, ENOTPUBLIC or EAI_AGAIN.
   */
  lookup: LookupFunction;
};

const TIMEOUT_MS = 3_000;
const MAX_ADDRESSES = 4;
// The last one: a record may refer to a name that cannot be one.
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

export function openPublicNames({ dnsServers, isAllowedAddress = isPublicAddress, thisMachine = false }: PublicNamesOptions): PublicNames {
  async function addressesOf(host: string): Promise<LookupAddress[]> {
    // Some name servers fail for the one kind of record and answer for the other.
    const answers = await ask(dnsServers, (resolver) =>
      Promise.allSettled([orNone(resolver.resolve4(host)), orNone(resolver.resolve6(host))]),
    );
    const found = answers.flatMap((answer, i) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
    );
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (found.length === 0) throw failed?.reason ?? coded('ENOTFOUND', `${host} has no address`);
    const allowed = found.filter(({ address }) => isAllowedAddress(address)).slice(0, MAX_ADDRESSES);
    if (allowed.length === 0) throw coded('ENOTPUBLIC', `${host} has no public address`);
    return allowed;
  }
  return {
    texts: async (name) => {
      const records = await ask(dnsServers, (resolver) => orNone(resolver.resolveTxt(name)));
      return records.map((chunks) => chunks.join(''));
    },
    lookup: (host, options, done) => {
      if (thisMachine && isThisMachine(host)) return systemLookup(host, options, done);
      addressesOf(host).then(
        (addresses) => {
          if (options.all) done(null, addresses);
          else done(null, addresses[0].address, addresses[0].family);
        },
        (error) => done(error, []),
      );
    },
  };
}

async function orNone<Found>(asked: Promise<Found[]>): Promise<Found[]> {
  try {
    return await asked;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (ABSENT.has(code)) return [];
    throw coded('EAI_AGAIN', `the name server did not answer (${code})`, error);
  }
}

const coded = (code: string, message: string, cause?: unknown) => Object.assign(new Error(message, { cause }), { code });

/** A resolver's own time-out is for each name server; this one is for them all. */
async function ask<T>(dnsServers: string[] | null, question: (resolver: Resolver) => Promise<T>): Promise<T> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  if (dnsServers) resolver.setServers(dnsServers);
  const timer = setTimeout(() => resolver.cancel(), TIMEOUT_MS);
  try {
    return await question(resolver);
  } finally {
    clearTimeout(timer);
  }
}
