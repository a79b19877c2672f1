/**
 * The counters of the limits of emails and codes, as SQL; that of any other limit is its name with what it counts for (platform/http/limits.ts).
 * The text of each ends in a space and what it counts for, by which the erasure of an address finds it. All parameters are SQL.
 */
export const counters = {
  /** Emails from a network address, or from a known device. */
  network: (network: string) => `'network ' || ${network}`,
  /** Emails from a block of network addresses, and those of its reserve. */
  block: (block: string) => `'block ' || ${block}`,
  blockReserve: (block: string) => `'spare ' || ${block}`,
  /** Emails to a mailbox from a network address. */
  pair: (network: string, mailbox: string) => `'pair ' || ${network} || ' ' || ${mailbox}`,
  /** Emails to a mailbox, from a known device, those of its reserve, and those of the reserve from one network. */
  mailbox: (mailbox: string) => `'mailbox ' || ${mailbox}`,
  mailboxOfDevice: (device: string, mailbox: string) => `'mailbox ' || ${device} || ' ' || ${mailbox}`,
  reserve: (mailbox: string) => `'reserve ' || ${mailbox}`,
  share: (network: string, mailbox: string) => `'share ' || ${network} || ' ' || ${mailbox}`,
  /** Wrong codes from a network or a known device, in total, and for a mailbox. */
  wrongCodes: (network: string) => `'wrong codes ' || ${network}`,
  wrongCodesInTotal: "'wrong codes'",
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
