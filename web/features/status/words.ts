import type { State, Status } from './queries.ts';

/** Where the specification has a fixed headline, it stands only while it is true. */
export const headlines: Record<State, string> = {
  operational: 'All Systems Operational',
  degraded: 'Some Systems Are Degraded',
  down: 'Signing In Does Not Work Right Now',
};

export const states: Record<State, { word: string; tone: 'live' | 'off' | 'bad' }> = {
  operational: { word: 'Operational', tone: 'live' },
  degraded: { word: 'Degraded', tone: 'bad' },
  down: { word: 'Down', tone: 'bad' },
};

type Component = Status['components'][number]['id'];

export const components: Record<Component, { name: string; about: string; failed: string; slow: string }> = {
  database: {
    name: 'Database',
    about: 'carries out a statement',
    failed: 'The database did not answer',
    slow: 'The database answers slowly.',
  },
  mail: {
    name: 'Sign-in mails',
    about: 'the mail server greets, and no mail waits',
    failed: 'Mails could not be sent',
    slow: 'Mails are slow.',
  },
  response: {
    name: 'Response time',
    about: 'a request to the service is answered',
    failed: 'Requests were not answered in time',
    slow: 'Requests are answered slowly.',
  },
};

/** What is wrong, in a sentence; empty while nothing is. */
export function troubleOf({ components: measured }: Status): string {
  const sentences = {
    database: 'The database does not answer.',
    mail: 'Mails wait, and go out as soon as the mail server answers.',
    response: 'Requests are not answered in time.',
  };
  return measured
    .filter(({ state }) => state !== 'operational')
    .map(({ id, state }) => (state === 'down' ? sentences[id] : components[id].slow))
    .join(' ');
}

/** What an incident was: `The database did not answer. Mails could not be sent.` */
export const incidentWords = (failed: string[]) => failed.map((id) => `${components[id as Component]?.failed ?? id}.`).join(' ');

/** `12 minutes`, `3 hours 5 minutes`. */
export function duration(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const count = (number: number, unit: string) => `${number} ${unit}${number === 1 ? '' : 's'}`;
  return [hours > 0 && count(hours, 'hour'), (rest > 0 || hours === 0) && count(rest, 'minute')].filter(Boolean).join(' ');
}
