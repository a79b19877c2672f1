import { z } from 'zod';
import { GRACE_HOURS } from '../contract/applications.ts';
import type { Access } from '../contract/endpoints.ts';
import { errors } from '../contract/errors.ts';
import {
  ATTEMPT_SECONDS,
  ICON_TYPES,
  MAX_API_KEYS,
  MAX_APPLICATIONS,
  MAX_CODE_TRIES,
  MAX_ICON_BYTES,
  MAX_REMEMBERED_ACCOUNTS,
  MAX_UNPROVEN_WEBSITES,
  RATE_LIMITS,
  TOKEN_SECONDS,
} from '../contract/limits.ts';
import { type Route, routes } from '../contract/routes.ts';

/** docs/guide/api.md: every call, error and limit of the contract, as Markdown. */
export function apiReferenceText(): string {
  return `${[INTRODUCTION, access(), callTable(), BEARER_KEYS, errorTable(), limitTable()].join('\n\n')}\n`;
}

const INTRODUCTION = `# API reference

<!-- Written by \`npm run docs\` from contract/: change it there. -->

All calls are under \`__ORIGIN__\`. Bodies and answers are JSON; parameters in braces stand in the path, the others of GET and DELETE in the query.
The same, with every schema, is in [/openapi.json](/openapi.json). A site needs one of them: [verify-token](integration.md#verify-token).`;

const ACCESS: Record<Access, string> = {
  anyone: 'programs, and the pages of this service; never a page of another origin',
  'any-origin': 'anybody, also pages elsewhere; no cookies are read',
  identity: "somebody signed in, also by an application's token",
  account: 'somebody signed in, or an API key',
  person: 'somebody signed in, no API key',
  admin: 'who opened the admin pages with their password',
};

const published = Object.entries(routes as Record<string, Route>).filter(([, route]) => !route.development);

function access(): string {
  return [
    '## Access',
    table(
      ['Access', 'Who'],
      Object.entries(ACCESS).map(([name, who]) => [code(name), who]),
    ),
  ].join('\n\n');
}

function callTable(): string {
  const rows = published.map(([, route]) => [
    code(`${route.method} ${route.path}`),
    route.summary,
    code(route.access),
    takenBy(route),
    answeredBy(route),
  ]);
  return ['## Calls', table(['Request', 'Does', 'Access', 'Takes', 'Answers'], rows)].join('\n\n');
}

type Schema = { type?: string; properties?: Record<string, unknown>; required?: string[]; anyOf?: Schema[]; items?: Schema };

/** The names of what a call takes; what may be left out has a question mark. */
function takenBy({ input }: Route): string {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema;
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  return names.length > 0 ? code(names.join(', ')) : '';
}

const answeredBy = ({ output }: Route) => code(shapeOf(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }) as Schema));

function shapeOf({ anyOf, type, items, properties }: Schema): string {
  if (anyOf) return anyOf.map(shapeOf).join(' | ');
  if (type === 'array' && items) return `[${shapeOf(items)}, …]`;
  return properties ? `{${Object.keys(properties).join(', ')}}` : '{…}';
}

const BEARER_KEYS = `## Bearer keys

A program of yours calls with \`Authorization: Bearer ea_live_…\`. Keys are made in the [dashboard](/dashboard/auth), shown once, and kept as hashes.

- A live key may do what its owner may, save the calls with the access \`person\`. A test key, \`ea_test_…\`, reads, and changes nothing.
- With a key, [verify-token](integration.md#verify-token) answers for the owner's sites alone. Without one it answers for whatever \`domain\` names.
- A rotated key works on for ${GRACE_HOURS.join(', ').replace(/, (\d+)$/, ' or $1')} hours, as you choose. A revoked one ends at once.
- A stored sign-in does as well: \`emailauth token\` prints its access token. \`EMAILAUTH_TOKEN\` gives the command line a key.

\`\`\`sh
curl __ORIGIN__/api/websites -H 'Authorization: Bearer ea_live_…'
\`\`\``;

function errorTable(): string {
  const rows = Object.entries(errors).map(([name, { status, message, hint }]) => [code(name), String(status), `${message} ${hint}`]);
  return [
    '## Errors',
    `Every answer that is not a success is \`{"error", "code", "hint"}\`, with \`field\` where one field is at fault and \`reference\` where the
operator's log has more. Decide by \`code\`: sentences may change, and new codes may come. What a site meets is explained in
[troubleshooting](troubleshooting.md).`,
    table(['Code', 'Status', 'Means, and what to do'], rows),
  ].join('\n\n');
}

function limitTable(): string {
  const rows = Object.values(RATE_LIMITS).map(({ points, duration, description }) => [`${points} in ${span(duration)}`, description]);
  return [
    '## Limits',
    `A refusal is 429 \`rate_limited\` with \`Retry-After\` in seconds. Limits are shared by all instances of a service; one in local mode
allows a hundred times as much. Tokens that are valid are always answered.`,
    table(['At most', 'of'], rows),
    table(
      ['What', 'How much'],
      [
        ['Life of a mailed link and its code', span(ATTEMPT_SECONDS)],
        ['Life of a token', span(TOKEN_SECONDS)],
        ['Tries of a code', String(MAX_CODE_TRIES)],
        ['Accounts that a browser remembers', String(MAX_REMEMBERED_ACCOUNTS)],
        ['Websites with an unproven domain of one account', String(MAX_UNPROVEN_WEBSITES)],
        ['Applications and API keys of one account', `${MAX_APPLICATIONS} and ${MAX_API_KEYS}`],
        [
          'An icon',
          `${ICON_TYPES.map((type) => type.replace('image/', '').toUpperCase()).join(' or ')} of at most ${MAX_ICON_BYTES / 1024 ** 2} MB`,
        ],
      ],
    ),
  ].join('\n\n');
}

function span(seconds: number): string {
  const [amount, unit] = seconds % 3600 === 0 ? [seconds / 3600, 'hour'] : [seconds / 60, 'minute'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

const code = (text: string) => `\`${text}\``;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
