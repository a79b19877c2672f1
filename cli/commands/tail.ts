import { setTimeout as sleep } from 'node:timers/promises';
import type { Output } from '../../contract/calls.ts';
import type { Client } from '../../contract/client.ts';
import { hasCode } from '../../contract/errors.ts';
import type { CommandSpec, Context } from '../command.ts';
import { CommandError, describeFailure, EXIT, usageError } from '../exit.ts';
import { shellLine, TEXT_WIDTH, wrap } from '../terminal.ts';

type Page = Output<'websiteEvents'>;
type Event = Page['events'][number];

/** The time between the starts of two calls, and the pause after a failure; each further failure doubles it, up to MAX_PAUSE_MS. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

export const tail: CommandSpec = {
  usage: 'tail [domain]',
  needs: 'sign-in',
  choices: { domain: 'sites' },
  group: 'Integration',
  summary: 'what happens in the sign-ins at your websites and applications, live, with the fix for each refusal',
  about:
    'Shows each step of a sign-in: email requested, accepted or refused, link opened, wrong browser or code, token verified or refused and why; with OpenID Connect, what the client was granted or refused. For one application, give its client ID. Without a domain, of all your websites and applications; localhost in local mode. With --json each event is one line. When the service restarts, it continues where it was. Ctrl-C ends it with exit code 0.',
  flags: { '--since <time>': 'begin so long ago: 30s, 10m, 1h or 2d, up to 7d; 10m by default' },
  examples: ['tail', 'tail shop.example --since 1h', "tail shop.example --json | jq -r 'select(.fix) | .fix'"],
  json: '{id,at,domain,name,kind,reason,email,level,text,fix,signIn,state,count}, one line for each event',
  exits: { 5: 'the website is not one of yours' },
  async run(context, [domain], { since = '10m' }) {
    const seconds = await parseSince(since);
    const { client } = await context.signedIn();
    const first = await client.websiteEvents({ domain, since: seconds }).catch((error) => throwNotOwn(error, domain));
    const print = createPrinter(context, domain === undefined);
    first.events.forEach(print);
    note(context, await introductionOf(client, domain, first.events.length === 0 ? since : null));
    await follow(context, client, { domain, cursor: first.cursor, more: first.more }, print).catch((error) => {
      if (!context.signal.aborted) throw error;
    });
    return EXIT.ok;
  },
};

/** Prints the later events until Ctrl-C. While the service cannot be reached, it tries again from the same cursor. */
async function follow(
  context: Context,
  client: Client,
  { domain, cursor, more }: { domain: string | undefined; cursor: string; more: boolean },
  print: (event: Event) => void,
): Promise<void> {
  const { signal } = context;
  const { MAX_EVENT_WAIT_SECONDS } = await import('../../contract/limits.ts');
  for (let failures = 0; !signal.aborted; ) {
    const start = performance.now();
    try {
      const page = await client.websiteEvents({ domain, after: cursor, wait: more ? 0 : MAX_EVENT_WAIT_SECONDS });
      if (failures > 0) note(context, 'The service is back.');
      failures = 0;
      ({ cursor, more } = page);
      page.events.forEach(print);
      // The service may respond at once each time.
      await sleep(Math.max(0, start + MIN_PAUSE_MS - performance.now()), undefined, { signal });
    } catch (error) {
      if (signal.aborted || !isTemporary(error)) throw error;
      if (failures === 0) note(context, `${describeFailure(error).message} Trying again.`);
      await sleep(Math.min(MIN_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS), undefined, { signal });
      failures += 1;
    }
  }
}

function isTemporary(error: unknown): boolean {
  const { exitCode } = describeFailure(error);
  return exitCode === EXIT.unreachable || exitCode === EXIT.rateLimited || Number(Object(error).status) >= 500;
}

/** @throws CommandError usage */
async function parseSince(text: string): Promise<number> {
  const [{ MAX_EVENT_AGE_SECONDS }, { secondsOf }] = await Promise.all([
    import('../../contract/limits.ts'),
    import('../../contract/rules.ts'),
  ]);
  const seconds = secondsOf(text);
  if (seconds === null || seconds > MAX_EVENT_AGE_SECONDS)
    throw usageError(`--since ${text} is not a time up to 7d.`, 'Give one such as 30s, 10m, 1h or 2d.');
  return seconds;
}

/** Throws an error with what to do about a website that is not one of the account; any other error is thrown unchanged. */
function throwNotOwn(error: unknown, domain = ''): never {
  if (!hasCode(error, 'website_not_found')) throw error;
  const hint = `No visitor can sign in at a domain that is not registered. See yours with \`emailauth sites list\`; add one with \`${shellLine(['emailauth', 'sites', 'add', domain])}\`.`;
  throw new CommandError(EXIT.notFound, 'website_not_found', `${domain} is not one of your websites or applications.`, hint, error);
}

/** Returns what is said before the events. @param since how far back there were no events; null: there were some */
async function introductionOf(client: Client, domain: string | undefined, since: string | null): Promise<string> {
  const isEmpty = since === null ? '' : `Nothing happened in the last ${since}. `;
  if (domain === undefined && since !== null && (await client.listWebsites({})).length === 0)
    return `${isEmpty}You have no websites yet; add one with \`emailauth sites add shop.example\`, or sign in at localhost in local mode. Waiting; Ctrl-C ends.`;
  return `${isEmpty}Waiting for the next sign-in; Ctrl-C ends.`;
}

const widthOf = ({ columns }: Context['terminal']) => Math.min(TEXT_WIDTH, columns);

function note({ terminal }: Context, text: string): void {
  terminal.note(wrap(text, widthOf(terminal)).join('\n'));
}

/** Returns a function that prints an event: as one line of JSON with --json, else as text. */
function createPrinter({ terminal }: Context, withDomain: boolean): (event: Event) => void {
  const { style } = terminal;
  const width = widthOf(terminal);
  const indent = width < 60 ? '  ' : ' '.repeat(10);
  let shownDay = new Date().toDateString();
  const block = (text: string) => wrap(text, width - indent.length).map((line) => indent + line);
  return (event) => {
    const time = new Date(event.at);
    const isOtherDay = time.toDateString() !== shownDay;
    shownDay = time.toDateString();
    const what = [event.level === 'problem' ? `! ${event.text}` : event.text, event.count > 1 ? `(${event.count} more in a minute)` : ''];
    const color = event.level === 'problem' ? 'red' : event.level === 'success' ? 'green' : null;
    const sentence = block(what.filter(Boolean).join(' ')).map((line) => (color ? style(color, line) : line));
    const clock = time.toLocaleTimeString('en-GB');
    const head =
      width < 60
        ? [style('dim', clock), ...sentence]
        : [style('dim', clock) + withoutIndent(sentence[0], clock.length), ...sentence.slice(1)];
    const who = [event.email, withDomain && event.name].filter(Boolean).join(' at ');
    const lines = [
      ...(isOtherDay ? [style('dim', time.toDateString())] : []),
      ...head,
      ...(who ? block(who).map((line) => style('dim', line)) : []),
      ...(event.fix ? block(`Fix: ${event.fix}`) : []),
    ];
    terminal.item(event, lines.join('\n'));
  };
}

/** Returns a line without its first columns, which are spaces after a possible style. */
const withoutIndent = (line: string, columns: number) => line.replace(' '.repeat(columns), '');
