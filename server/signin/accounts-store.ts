import type pg from 'pg';
import type { LanguageCode } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES, TOKEN_SECONDS } from '../../contract/limits.ts';
import type { AttemptKind } from './secrets.ts';
import type { Issue } from './session-store.ts';
import { clientGoesOn, endedBySibling, notBeingSignedOut, sameRegistration } from './statements.ts';

export type QuickLogin = {
  selector: Buffer;
  verifier: Buffer;
  nextVerifier: Buffer;
  device: Buffer;
  email: string;
  domain: string | null;
  /** The host that the token will be for. */
  host: string | null;
  tokenHash: Buffer;
  browser: Buffer | null;
};

export type AttemptStatus = 'waiting' | 'opened' | 'mail_failed' | 'expired';
export type LinkState = {
  kind: AttemptKind;
  email: string;
  language: LanguageCode;
  domain: string | null;
  clientId: string | null;
  redirectUri: string | null;
  forwardUrl: string | null;
  state: string | null;
  /** Id of the upload that the site shows. */
  icon: string | null;
  /** Whether the domain is registered at this moment, possibly by somebody else. */
  registered: boolean;
  /** `withdrawn`: the website or the application for which the mail was sent is gone, or not the same any more. */
  status: 'open' | 'used' | 'expired' | 'withdrawn';
};

const ENDED = endedBySibling('a', `${ATTEMPT_SECONDS}`);

// The verifier is replaced once it is a day old; the old one lives 60 s more, for requests under way.
const QUICK_LOGIN = `
with used as (
  update remembered_keys set used_at = now(),
    verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then $3 else verifier end,
    previous_verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then verifier else previous_verifier end,
    rotated_at = case when verifier = $2 and rotated_at <= now() - interval '1 day' then now() else rotated_at end
  where selector = $1 and device = $4 and email = $5 and used_at > now() - interval '90 days' and expires_at > now()
    and (verifier = $2 or (previous_verifier = $2 and rotated_at > now() - interval '60 seconds'))
    and ($6::text is null or exists (select from websites where domain = $6))
    and ${notBeingSignedOut('email')}
  returning email, verifier = $3 as rotated, verifier not in ($2, $3) as replaced
),
issued as (
  insert into tokens (hash, domain, host, email, browser, expires_at)
  select $7, $6, $9, email, $8, now() + interval '${TOKEN_SECONDS} seconds' from used
),
audit as (insert into audit_log (action, email, domain) select 'signed_in_again', email, $6 from used)
select rotated, replaced from used`;

const WITHDRAWN = `(a.domain is not null and (${sameRegistration('a.domain', `a.expires_at - interval '${ATTEMPT_SECONDS} seconds'`)}) is not true
    or a.client_id is not null and not ${clientGoesOn('a')})`;

// On probation a site shows no icon.
const SHOWN_ICON = 'case when w.claimed_at is not null then w.icon end';

export type AccountsStore = ReturnType<typeof createAccountsStore>;

/** The statements around the core: remembered accounts, codes, and what the pages ask about attempts and links. */
export function createAccountsStore(core: pg.Pool) {
  const run = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => core.query<Row>({ name, text, values });
  return {
    /**
     * @returns `rotated`: the key is replaced now; `replaced`: it was replaced a moment ago, by another tab; null: it is not good,
     * and one that was replaced long ago ends its family
     */
    async quickLogin(login: QuickLogin): Promise<{ rotated: boolean; replaced: boolean } | null> {
      const { selector, verifier, nextVerifier, device, email, domain, host, tokenHash, browser } = login;
      const { rows } = await run<{ rotated: boolean; replaced: boolean }>('signin-quick', QUICK_LOGIN, [
        selector,
        verifier,
        nextVerifier,
        device,
        email,
        domain,
        tokenHash,
        browser,
        host,
      ]);
      if (rows[0]) return rows[0];
      const reuse = `delete from remembered_keys
        where selector = $1 and device = $2 and previous_verifier = $3 and rotated_at <= now() - interval '60 seconds'`;
      await run('signin-key-reuse', reuse, [selector, device, verifier]);
      return null;
    },

    /** Counts an address given for a link that was opened in another browser, before anything is compared. @returns whether there was a try left */
    async countAddressTry(id: string): Promise<boolean> {
      const text = `update sign_in_attempts set secret_tries = secret_tries + 1
        where id = $1 and consumed_at is null and secret_tries < ${MAX_CODE_TRIES}`;
      return (await run('signin-address-try', text, [id])).rowCount === 1;
    },

    /**
     * Counts an address given for any link of the last hour, before anything is compared; the link stays as it is.
     * @returns the address that the mail was sent to, or null when no try is left
     */
    async countBrowserTry(id: string): Promise<string | null> {
      const text = `update sign_in_attempts set secret_tries = secret_tries + 1
        where id = $1 and secret_tries < ${MAX_CODE_TRIES} and expires_at > now() - interval '${3600 - ATTEMPT_SECONDS} seconds' returning email`;
      return (await run<{ email: string }>('signin-browser-try', text, [id])).rows[0]?.email ?? null;
    },

    /** Makes a device known to the limits of an address, as a logout leaves it: the row lets nobody in. */
    async knowDevice({ device, email, selector, label }: Pick<Issue, 'device' | 'selector' | 'label'> & { email: string }): Promise<void> {
      const text = `insert into remembered_keys (selector, device, label, email, verifier, expires_at)
        values ($1, $2, $3, $4, '', now() + interval '400 days') on conflict (device, email) do nothing`;
      await run('signin-know-device', text, [selector, device, label, email]);
    },

    /** What became of the newest attempt of a browser for an address. */
    async attemptStatus(browser: Buffer, email: string): Promise<AttemptStatus> {
      const text = `select a.consumed_at is not null or ${ENDED} as opened, mail_failed, expires_at <= now() as expired
        from sign_in_attempts a where browser = $1 and email = $2 order by id desc limit 1`;
      const { rows } = await run<{ opened: boolean; mail_failed: boolean; expired: boolean }>('signin-status', text, [browser, email]);
      const [row] = rows;
      if (!row) return 'expired';
      if (row.opened) return 'opened';
      if (row.mail_failed) return 'mail_failed';
      return row.expired ? 'expired' : 'waiting';
    },

    /** The registered address of the site that a token is for, which this does not use up; null: no site's token. */
    async siteOfToken(hash: Buffer): Promise<{ owner: string | null } | null> {
      const text =
        'select w.email as owner from tokens t left join websites w on w.domain = t.domain where t.hash = $1 and t.domain is not null';
      return (await run<{ owner: string | null }>('signin-token-site', text, [hash])).rows[0] ?? null;
    },

    /** What a page may say about a link, without using it. */
    async linkState(id: string): Promise<LinkState | null> {
      const text = `select kind, email, language, domain, client_id as "clientId", redirect_uri as "redirectUri", forward_url as "forwardUrl", state,
          (select ${SHOWN_ICON} from websites w where w.domain = a.domain) as icon,
          exists (select from websites w where w.domain = a.domain) as registered,
          case
            when a.consumed_at is not null or ${ENDED} then 'used'
            when expires_at <= now() or secret_tries >= ${MAX_CODE_TRIES} then 'expired'
            when ${WITHDRAWN} then 'withdrawn'
            else 'open' end as status
        from sign_in_attempts a where id = $1`;
      return (await run<LinkState>('signin-link-state', text, [id])).rows[0] ?? null;
    },

    /** The site that visitors of a domain sign in to. @returns null when the domain is not registered */
    async registeredSite(domain: string): Promise<{ icon: string | null } | null> {
      const text = `select ${SHOWN_ICON} as icon from websites w where domain = $1`;
      return (await run<{ icon: string | null }>('signin-registered', text, [domain])).rows[0] ?? null;
    },

    /** Local mode: `localhost` is a site that nobody owns, so that any app under development can be tried at once. */
    async admitLocalhost(id: string): Promise<void> {
      const text = "insert into websites (id, domain, claimed_at) values ($1, 'localhost', now()) on conflict (domain) do nothing";
      await run('signin-admit-localhost', text, [id]);
    },

    /** The receiving server refused the mail for good; the waiting page says so. */
    async markMailFailed(id: string): Promise<void> {
      await run('signin-mail-failed', 'update sign_in_attempts set mail_failed = true where id = $1', [id]);
    },
  };
}
