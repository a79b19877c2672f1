import type { Output } from '../../contract/calls.ts';
import { SETUP_STEPS, type SetupStep } from '../../contract/setup.ts';
import { explain } from './explanations.ts';

type StepState = Output<'websiteSetup'>['steps'][number];
type State = Omit<StepState, 'step'>;
type CheckResult = Output<'checkCallback'>['results'][number];

/** What is known of a website since it got its domain. */
export type SetupFacts = {
  /** As people read it. */
  domain: string;
  isProven: boolean;
  /** Whether the website was proven under a former domain. */
  wasProven: boolean;
  /** The last check of the callback. */
  check: { at: Date; results: CheckResult[] } | null;
  /** When the website last verified a token or exchanged a code. */
  verifiedAt: Date | null;
  /** The same at localhost, in local mode. */
  localAt: Date | null;
  /** Whether it did so before the activity that was read. */
  verifiedBefore: boolean;
  requestedAt: Date | null;
  /** When a visitor last went back to the website. */
  openedAt: Date | null;
  /** The last token that was issued here and rejected. */
  refusal: { at: Date; reason: string } | null;
  mail: {
    /** Emails stay in the built-in inbox. */
    isLocal: boolean;
    /** The service cannot send emails at this moment. */
    isFailing: boolean;
    /** When an email was last accepted by the mail server or opened. */
    acceptedAt: Date | null;
    acceptedBefore: boolean;
    /** The last email that was not accepted, as an event. */
    problem: { at: Date; kind: string; reason: string | null } | null;
  };
};

/** Returns the steps of the set-up of a website with their states. */
export function setupSteps(facts: SetupFacts): StepState[] {
  return SETUP_STEPS.map((step) => ({ step, ...EVALUATE[step](facts) }));
}

const EVALUATE: Record<SetupStep, (facts: SetupFacts) => State> = {
  link: evaluateLink,
  callback: evaluateCallback,
  sign_in: evaluateSignIn,
  proof: evaluateProof,
  mail: evaluateMail,
};

function evaluateLink(facts: SetupFacts): State {
  const { check, domain } = facts;
  if (isVerifiedSinceCheck(facts)) return done('A visitor came back from a sign-in, and the website verified the token.');
  const wrong = failureOf(check, ['login', 'login_cookie']);
  if (wrong) return wrong;
  const login = resultOf(check, 'login');
  if (login?.ok) return done(login.detail);
  if (facts.verifiedAt || facts.verifiedBefore) return done('The website has verified tokens of visitors.');
  // Without a callback, no login was looked for.
  if (login && resultOf(check, 'callback')?.ok !== false) return open(login.detail, login.fix);
  return open(
    `No sign-in has begun at ${domain} yet.`,
    'Add the code of your framework, and a link to /login. The check of the callback looks for it.',
  );
}

function evaluateCallback(facts: SetupFacts): State {
  const { check } = facts;
  if (isVerifiedSinceCheck(facts)) return done('The website verified the token of a visitor there.');
  const wrong = failureOf(check, ['callback', 'callback_refusal']);
  if (wrong) return wrong;
  const callback = resultOf(check, 'callback');
  if (callback?.ok) return done(callback.detail);
  if (facts.verifiedAt || facts.verifiedBefore) return done('The website has verified tokens of visitors there.');
  if (callback) return open(callback.detail, callback.fix);
  return open('It has not been checked yet.');
}

function evaluateSignIn({ verifiedAt, localAt, verifiedBefore, refusal, openedAt, requestedAt }: SetupFacts): State {
  if (refusal && !isAfter(verifiedAt, refusal.at) && !isAfter(localAt, refusal.at)) {
    const { text, fix } = explain('token_refused', refusal.reason);
    return failed(text, fix);
  }
  if (verifiedAt || verifiedBefore) return done('The website verified the token of a visitor.');
  if (localAt) return done('A sign-in at localhost was completed.');
  if (openedAt) {
    const text = 'A visitor went back to the website with a token. Your server has not verified it yet.';
    return open(text, 'Let the callback call /api/verify-token with the token. The log has each step.');
  }
  if (requestedAt) return open('A sign-in email was requested. Open its link, or enter its code.');
  return open('Nobody has signed in yet.', 'Sign in on your website, as a visitor would.');
}

function evaluateProof({ domain, isProven, wasProven }: SetupFacts): State {
  if (isProven) return done(`${domain} is verified.`);
  const fix = 'Publish the DNS record or the file, and have it checked in Settings.';
  if (wasProven) return failed(`${domain} is not verified. The domain that the website had before was.`, fix);
  return open(`${domain} is not verified: another account can claim it, and addresses are masked.`, fix);
}

function evaluateMail({ mail: { isLocal, isFailing, acceptedAt, acceptedBefore, problem } }: SetupFacts): State {
  if (isLocal) return done('Emails stay in the built-in inbox of this service.');
  if (isFailing) {
    const fix = 'They are sent once its mail server works again. The status page shows it; let the operator check the mail server.';
    return failed('The service cannot send emails at this moment.', fix);
  }
  const isWorse = problem && !isAfter(acceptedAt, problem.at);
  // The mail server of one visitor may refuse an email of a service that works.
  if (problem && isWorse && (problem.kind !== 'mail_refused' || !(acceptedAt || acceptedBefore))) {
    const { text, fix } = explain(problem.kind, problem.reason);
    return failed(text, fix);
  }
  if (acceptedAt || acceptedBefore) return done('The mail server accepts the emails to your visitors.');
  return open(
    'No email has been sent to a visitor yet.',
    'Sign in on your website once. Branding has the sender name and the logo of the emails.',
  );
}

/** Whether a token was verified after the check of the callback, which is then out of date. */
function isVerifiedSinceCheck({ check, verifiedAt, verifiedBefore }: SetupFacts): boolean {
  return check ? isAfter(verifiedAt, check.at) : Boolean(verifiedAt) || verifiedBefore;
}

const isAfter = (time: Date | null, other: Date) => time !== null && time > other;

const resultOf = (check: SetupFacts['check'], id: string) => check?.results.find((result) => result.id === id);

function failureOf(check: SetupFacts['check'], ids: readonly string[]): State | null {
  const wrong = check?.results.find(({ id, ok }) => ok === false && ids.includes(id));
  return wrong ? failed(wrong.detail, wrong.fix) : null;
}

const done = (text: string): State => ({ state: 'done', text, fix: null });
const open = (text: string, fix = ''): State => ({ state: 'open', text, fix: fix || null });
const failed = (text: string, fix: string | null): State => ({ state: 'failed', text, fix: fix || null });
