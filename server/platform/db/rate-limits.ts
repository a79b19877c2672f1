/**
 * The keys of the counters of emails and codes. Keys and parameters are SQL. The key of any other limit begins with its name (platform/http/limits.ts).
 * A key of an address ends in a space and the address: so an erasure finds it (operations/operator-store.ts).
 */
export const counters = {
  /** Emails from a network address, or from a known device. */
  network: (network: string) => `'network ' || ${network}`,
  /** Emails from a block of network addresses. */
  block: (block: string) => `'block ' || ${block}`,
  /** Emails of the reserve of a block. */
  blockReserve: (block: string) => `'spare ' || ${block}`,
  /** Emails to a mailbox from a network address. */
  pair: (network: string, mailbox: string) => `'pair ' || ${network} || ' ' || ${mailbox}`,
  /** Emails to a mailbox. */
  mailbox: (mailbox: string) => `'mailbox ' || ${mailbox}`,
  /** Emails to a mailbox from a device that it knows. */
  mailboxOfDevice: (device: string, mailbox: string) => `'mailbox ' || ${device} || ' ' || ${mailbox}`,
  /** Emails of the reserve of a mailbox. */
  reserve: (mailbox: string) => `'reserve ' || ${mailbox}`,
  /** Emails of that reserve which one network has requested. */
  share: (network: string, mailbox: string) => `'share ' || ${network} || ' ' || ${mailbox}`,
  /** Wrong codes from a network, or from a known device. */
  wrongCodes: (network: string) => `'wrong codes ' || ${network}`,
  wrongCodesInTotal: "'wrong codes'",
  /** Wrong codes for a mailbox. */
  guesses: (mailbox: string) => `'guesses ' || ${mailbox}`,
} as const;

type Hits = {
  /** The counter, as SQL. */
  key: string;
  /** How many hits are added, as SQL; without it one. */
  hits?: string;
  /** The end of a window that begins now, as SQL. */
  windowEnd: string;
  /** Rows of which each is counted, as SQL that begins with `from`. */
  from?: string;
  /** Whether the hits are added to a window that has begun, as SQL; without it always. `l` is the counter, `excluded` what is added. */
  condition?: string;
};

/** Returns the end of a window that begins now, as SQL. @param duration in seconds */
export const windowOf = ({ duration }: { duration: number }) => `now() + interval '${duration} seconds'`;

/** Returns a statement that adds hits to a counter of a rate limit and returns its `hits` and `resets_at`. A window begins with its first hit. */
export const addHits = ({ key, hits = '1', windowEnd, from = '', condition = 'true' }: Hits) => `
  insert into rate_limits as l (key, hits, resets_at)
  select ${key}, ${hits}, ${windowEnd} ${from}
  on conflict (key) do update set
    hits = case when l.resets_at <= now() then excluded.hits else l.hits + excluded.hits end,
    resets_at = case when l.resets_at <= now() or l.hits = 0 then excluded.resets_at else l.resets_at end
  where l.resets_at <= now() or ${condition}
  returning l.hits, l.resets_at`;
