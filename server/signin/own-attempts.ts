import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../../contract/limits.ts';
import type { AttemptStatus, OwnAttempt } from '../../contract/pages.ts';
import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Database } from '../db/database.ts';
import { endedBySibling } from './conditions.ts';

/** What an attempt signs in to: a forward_url of a website, the portal, or an authorization request by the mark of its token. */
export type AttemptTarget = { kind: 'site'; forwardUrl: string } | { kind: 'portal' } | { kind: 'oidc'; mark: string };

/** The hashed cookies of a browser; `device` is null when it has none. */
type OwnBrowser = { attempt: Buffer; device: Buffer | null };

const LIFE = `interval '${ATTEMPT_SECONDS} seconds'`;

// A sign-in remembers the account on the device of the browser that completed it, in the transaction that uses the attempt up.
const STATUS = `case
    when a.consumed_at is not null or ${endedBySibling('a', `${ATTEMPT_SECONDS}`)} then
      case when exists (
        select from remembered_keys k where k.device = $2 and k.email = a.email and k.rotated_at >= coalesce(a.consumed_at, a.expires_at - ${LIFE})
      ) then 'opened' else 'opened_elsewhere' end
    when a.mail_failed then 'mail_failed'
    when a.expires_at <= now() then 'expired'
    when a.code_tries >= ${MAX_CODE_TRIES} then 'code_spent'
    else 'waiting' end`;

const NEWEST_STATUS = `select ${STATUS} as status from sign_in_attempts a where browser = $1 and email = $3 order by id desc limit 1`;

/** Whether an attempt is for the target: $3 its forward_url, or $4 its mark, or neither for the portal. */
const forTarget = (attempt: string) => `case
    when $3::text is not null then ${attempt}.kind = 'site' and ${attempt}.forward_url = $3
    when $4::text is not null then ${attempt}.kind = 'oidc' and ${attempt}.host = $4
    else ${attempt}.kind = 'portal' or ${attempt}.kind = 'app' and ${attempt}.client_id = '${WEB_CLIENT_ID}' end`;

const NEWEST_FOR_TARGET = `
select a.email, a.state, ${STATUS} as status, greatest(0, ceil(extract(epoch from a.expires_at - now())))::integer as "secondsLeft",
  (select count(*) from sign_in_attempts o
    where o.browser = a.browser and o.email = a.email and o.expires_at > now() and ${forTarget('o')})::integer as "emailCount"
from sign_in_attempts a
where a.browser = $1 and ${forTarget('a')} and ($5::text is null or a.email = $5)
order by a.id desc limit 1`;

/** The attempts of a browser, as it may see them itself. */
export class OwnAttempts {
  readonly #core: Database['core'];

  constructor(core: Database['core']) {
    this.#core = core;
  }

  /** Returns the status of a browser's newest attempt for an address; `expired` when there is none. */
  async status({ attempt, device }: OwnBrowser, email: string): Promise<AttemptStatus> {
    const values = [attempt, device, email];
    const { rows } = await this.#core.query<{ status: AttemptStatus }>({ name: 'signin-status', text: NEWEST_STATUS, values });
    return rows[0]?.status ?? 'expired';
  }

  /** Returns a browser's newest attempt for a target, or null. @param email only for this address */
  async newest({ attempt, device }: OwnBrowser, target: AttemptTarget, email?: string): Promise<OwnAttempt | null> {
    const forwardUrl = target.kind === 'site' ? target.forwardUrl : null;
    const mark = target.kind === 'oidc' ? target.mark : null;
    const values = [attempt, device, forwardUrl, mark, email ?? null];
    const { rows } = await this.#core.query<OwnAttempt>({ name: 'signin-own-attempt', text: NEWEST_FOR_TARGET, values });
    return rows[0] ?? null;
  }
}
