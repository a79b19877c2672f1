import type { Output } from '../../../contract/calls.ts';

export type Status = Output<'status'>;
type State = Status['state'];
export type History = NonNullable<Status['history']>;

/** The headline of the page for each state. */
export const headlines: Record<State, string> = {
  operational: 'All Systems Operational',
  degraded: 'Some Systems Are Degraded',
  down: 'Signing In Does Not Work Right Now',
};

/** The label and the color of each state. */
export const states: Record<State, { label: string; tone: 'live' | 'off' | 'bad' }> = {
  operational: { label: 'Operational', tone: 'live' },
  degraded: { label: 'Degraded', tone: 'bad' },
  down: { label: 'Down', tone: 'bad' },
};

type Component = Status['components'][number]['id'];

/** The texts of each measured component. */
export const components: Record<Component, { name: string; about: string; failed: string; slow: string }> = {
  database: {
    name: 'Database',
    about: 'executes a statement',
    failed: 'The database did not respond',
    slow: 'The database responds slowly.',
  },
  mail: {
    name: 'Sign-in emails',
    about: 'the mail server responds, and no email is overdue',
    failed: 'Emails could not be sent',
    slow: 'Emails are slow.',
  },
  response: {
    name: 'Response time',
    about: 'the service responds to a request',
    failed: 'Requests had no response in time',
    slow: 'Responses are slow.',
  },
};

/** Returns what does not work, in sentences; empty when everything works. */
export function problemsOf({ components: measured }: Status): string {
  const sentences = {
    database: 'The database does not respond.',
    mail: 'Emails are waiting and will be sent as soon as the mail server responds.',
    response: 'Requests have no response in time.',
  };
  return measured
    .filter(({ state }) => state !== 'operational')
    .map(({ id, state }) => (state === 'down' ? sentences[id] : components[id].slow))
    .join(' ');
}

/** Returns the title of an incident: `The database did not respond. Emails could not be sent.` */
export const incidentTitle = (failed: string[]) => failed.map((id) => `${components[id as Component]?.failed ?? id}.`).join(' ');

/** Returns a duration: `12 minutes`, `3 hours 5 minutes`. */
export function duration(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const count = (number: number, unit: string) => `${number} ${unit}${number === 1 ? '' : 's'}`;
  return [hours > 0 && count(hours, 'hour'), (rest > 0 || hours === 0) && count(rest, 'minute')].filter(Boolean).join(' ');
}
