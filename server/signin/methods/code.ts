import type { Parsed } from '../../../contract/calls.ts';
import { mailboxOf } from '../../../contract/emails.ts';
import type { Entered } from '../../../contract/entered.ts';
import { Fault } from '../../../contract/errors.ts';
import { RATE_LIMITS } from '../../../contract/rate-limits.ts';
import { type EventRecorder, subjectOf } from '../../activity/recorder.ts';
import type { Browser } from '../../developers/browser.ts';
import type { Database } from '../../platform/db/database.ts';
import { siteOfNetwork } from '../../platform/http/client-address.ts';
import type { Log } from '../../platform/log.ts';
import { wrongCodes } from '../../platform/metrics/metrics.ts';
import { digest } from '../../platform/secrets.ts';
import { type AttemptSecrets, handleToId } from '../attempts.ts';
import type { AttemptOpener, OpeningResult } from '../opener.ts';
import { type Candidate, CodeTries, type EnteredBy } from './code-tries.ts';

type Parts = {
  core: Database['core'];
  secrets: AttemptSecrets;
  opener: AttemptOpener;
  events: EventRecorder;
  log: Log;
  /** Multiplies the limits; 100 in local mode. */
  limitFactor: number;
};

/** The codes of sign-in emails. */
export class SignInCodes {
  readonly #parts: Parts;
  readonly #tries: CodeTries;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#tries = new CodeTries(parts.core, parts.limitFactor);
  }

  /**
   * Checks a code in the browser or program that began the attempt, and opens the attempt.
   * @returns for a PKCE attempt its authorization code, which is exchanged with the verifier
   * @throws Fault bad_code, rate_limited
   */
  async enter({ email, code, state, attempt }: Parsed<'emailCode'>, browser: Browser): Promise<OpeningResult | { code: string }> {
    const { secrets, opener } = this.#parts;
    const id = attempt === undefined ? null : handleToId(attempt);
    // Only a PKCE attempt has a handle, which is valid together with its state.
    if (attempt !== undefined && (id === null || state === undefined)) throw new Fault('bad_code');
    const by = id ? { id } : { browser: digest(browser.attempt) };
    const match = await this.#match(by, { email, code, state: state ?? null }, browser);
    if (match.kind === 'app') return { code: secrets.link('app', match.id) };
    const opened = match.opened
      ? await opener.openAgain(match, browser, email)
      : await opener.open(match, browser, { browser: match.browser, email: null, method: code.method });
    if (!opened) throw new Fault('bad_code', { field: 'code' });
    return opened;
  }

  /** Returns the attempt whose code it is, once the limits have accepted the try; or one that was opened a moment ago. @throws Fault bad_code, rate_limited */
  async #match(
    by: EnteredBy,
    entered: { email: string; code: Entered; state: string | null },
    { clientAddress, device, requestId }: Browser,
  ): Promise<Candidate> {
    const { secrets, log } = this.#parts;
    const matchOf = (attempts: Candidate[]) => attempts.find(({ kind, id }) => secrets.isEntered(entered.code, kind, id));
    const candidates = await this.#tries.candidates(by, entered, digest(device));
    // Only the browser that has opened an attempt gets its result again, so that its code needs no guess.
    const repeated = matchOf(candidates.filter(({ opened }) => opened));
    if (repeated) return repeated;
    const open = candidates.filter(({ opened }) => !opened);
    if (open.length === 0) throw new Fault('bad_code', { field: 'code' });
    const match = matchOf(open);
    const { tried, retryAfter, triesLeft, total, crossesTotal } = await this.#tries.judge({
      candidates: open,
      match: match?.id ?? null,
      mailbox: mailboxOf(entered.email),
      network: siteOfNetwork(clientAddress),
      device: digest(device),
    });
    if (retryAfter !== null) throw new Fault('rate_limited', { message: RATE_LIMITS.wrong_codes.message, retryAfter });
    if (match && tried.includes(match.id)) return match;
    // The instance whose code crosses the limit logs it.
    if (crossesTotal)
      log.error(
        { request: requestId, wrongCodes: total },
        'sign-in: someone may be guessing codes; networks with wrong codes must use the link until the hour ends',
      );
    if (tried.length > 0) {
      wrongCodes.count();
      await this.#recordWrong(open, entered.email);
    }
    // The first of two clicks may have opened it meanwhile. This is looked up for every code, so that the time tells nothing about it.
    const opened = tried.length > 0 ? [] : (await this.#tries.candidates(by, entered, digest(device))).filter((each) => each.opened);
    const again = matchOf(opened);
    if (again) return again;
    throw new Fault('bad_code', { field: 'code', triesLeft });
  }

  /** Adds an event for each website and application to which the code could have belonged, in the newest of their sign-ins. */
  async #recordWrong(candidates: Candidate[], email: string): Promise<void> {
    const oldestFirst = candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const newest = new Map(oldestFirst.map((candidate) => [subjectOf(candidate), candidate.id]));
    newest.delete(null);
    const { events } = this.#parts;
    await Promise.all(
      [...newest].map(([domain, signIn]) => events.record({ domain: domain as string, kind: 'wrong_code', email, signIn })),
    );
  }
}
