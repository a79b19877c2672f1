import { METHODS, OTHER_METHODS } from '../../../contract/methods.ts';
import { SIGN_IN_STATES, stateOf } from '../../../contract/sign-in-states.ts';
import { DownIcon } from '../../ui/icons.tsx';
import { EventRow, EventTime, type LiveEvent, Mark, withCode } from './live-events.tsx';

/** The steps of a sign-in, oldest first, or one event that is of none. */
export type SignIn = { key: string; steps: LiveEvent[] };

const FIRST_KINDS: readonly string[] = ['requested', ...OTHER_METHODS.map((method) => METHODS[method].event.kind)];
const isFirst = ({ signIn, kind }: LiveEvent) => signIn === null || FIRST_KINDS.includes(kind);

/**
 * Returns the sign-ins that are loaded, newest first, and above them those that began later, as far as they are known.
 * @param loaded events of the call websiteLog with whole sign-ins
 * @param live later events, oldest first
 * @param partial also sign-ins of which only some steps are known
 */
export function signInsOf(
  loaded: readonly LiveEvent[],
  live: readonly LiveEvent[],
  partial: boolean,
): { later: SignIn[]; earlier: SignIn[] } {
  const [later, earlier] = [new Map<string, SignIn>(), new Map<string, SignIn>()];
  const known = new Set<string>();
  const add = (event: LiveEvent, signIns: Map<string, SignIn>) => {
    const key = event.signIn ?? event.id;
    known.add(event.id);
    const found = signIns.get(key);
    if (found) found.steps.push(event);
    else signIns.set(key, { key, steps: [event] });
  };
  for (const event of loaded) add(event, earlier);
  for (const event of live) {
    const key = event.signIn ?? event.id;
    if (known.has(event.id)) continue;
    if (earlier.has(key)) add(event, earlier);
    else if (later.has(key) || partial || isFirst(event)) add(event, later);
  }
  return { later: [...later.values()].reverse(), earlier: [...earlier.values()] };
}

/** Returns the state of a sign-in in words, and the address that it is of. */
export function summaryOf({ steps }: SignIn, now: number): { label: string; level: LiveEvent['level']; email: string | null } {
  const state = stateOf(steps, now);
  const { label, level } = state ? SIGN_IN_STATES[state] : { label: steps[steps.length - 1].text, level: steps[steps.length - 1].level };
  return { label, level, email: steps.find(({ email }) => email !== null)?.email ?? null };
}

/** A sign-in with its state, which opens into its steps; an event that is of no sign-in with what to do about it. */
export function SignInRow({ signIn, now }: { signIn: SignIn; now: number }) {
  const { steps } = signIn;
  const [first] = steps;
  if (first.signIn === null) return <EventRow event={first} />;
  const { label, level, email } = summaryOf(signIn, now);
  const problem = level === 'success' ? undefined : steps.findLast((step) => step.level === 'problem');
  return (
    <li>
      <details className="group">
        <summary className="grid cursor-pointer list-none grid-cols-[1fr_auto] gap-x-4 gap-y-0.5 px-4 py-3 -outline-offset-2 hover:bg-sunk sm:grid-cols-[4.5rem_1fr_auto] sm:px-5 [&::-webkit-details-marker]:hidden">
          <span className="col-span-2 sm:col-span-1">
            <EventTime at={first.at} />
          </span>
          <span className="flex min-w-0 gap-2.5">
            <Mark level={problem ? 'problem' : level} />
            <span className="min-w-0">
              <span className="block text-[0.9375rem] leading-6">
                <span className="font-medium">{label}</span>
                {email && (
                  <>
                    {' · '}
                    <bdi dir="ltr" className="wrap-anywhere">
                      {email}
                    </bdi>
                  </>
                )}
              </span>
              {problem && (
                <span className="block text-sm leading-6">
                  <span className="sr-only">Problem: </span>
                  {withCode(problem.text)}
                </span>
              )}
            </span>
          </span>
          <DownIcon className="mt-1 size-4 text-muted transition-transform group-open:rotate-180" />
        </summary>
        <ol
          aria-label={`Steps of the sign-in${email ? ` of ${email}` : ''}`}
          className="divide-y divide-line border-t border-line bg-sunk/40"
        >
          {steps.map((step) => (
            <EventRow key={step.id} event={step} inSignIn />
          ))}
        </ol>
      </details>
    </li>
  );
}
