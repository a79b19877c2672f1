import type { Output } from '../../contract/calls.ts';
import type { CommandSpec, Context } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { promptHidden } from '../prompts.ts';

type Reason = Extract<Output<'verifyToken'>, { valid: false }>['reason'];

const REASONS: Readonly<Record<Reason, string>> = {
  used: 'It was already verified, and a token can only be used once.',
  expired: 'It has expired: a token is valid for one hour.',
  unknown: 'This service did not issue such a token.',
  other_domain: 'It is for another website, which can still verify it.',
};

/** More than the length of any token. */
const MAX_BYTES = 4_096;
const PIPE_IT = 'Pipe it in: `emailauth verify - < token.txt`';

export const verify: CommandSpec = {
  usage: 'verify [token]',
  needs: 'service',
  choices: { '--domain': 'sites' },
  group: 'Integration',
  summary: 'verify a token at the service; this uses it up',
  about:
    'Reads the token from stdin with `-`, or prompts for it without showing it. An argument is visible in the process list and in the history of your shell; one that begins with - needs -- before it. With EMAILAUTH_TOKEN only tokens of your own websites are valid.',
  flags: { '--domain <domain>': 'the website of the token; a token for another one is refused without being used up' },
  examples: ['verify', 'verify - --domain shop.example < token.txt', 'verify --json -- "$TOKEN"'],
  json: '{email,valid,domain,method,at} or {email,valid,reason}',
  exits: { 10: 'the token is not valid' },
  async run(context, [given], { domain }) {
    const { terminal } = context;
    const token = await readToken(context, given);
    const isSignedIn = (await context.credentials()).callerAt(await context.settings.host()) !== null;
    const client = isSignedIn ? (await context.signedIn()).client : await context.anonymous();
    const result = await client.verifyTokenByPost({ token, domain });
    terminal.result(result, result.valid ? await formatSignIn(result) : `Not valid. ${REASONS[result.reason]}`);
    if (result.valid) terminal.note('The token is used up: the website can no longer verify it.');
    return result.valid ? EXIT.ok : EXIT.negative;
  },
};

type SignIn = Extract<Output<'verifyToken'>, { valid: true }>;

/** Returns who signed in, where and how. The method of a service of another version may be unknown here. */
async function formatSignIn({ email, domain, method, at }: SignIn): Promise<string> {
  const { METHODS } = await import('../../contract/methods.ts');
  if (!Object.hasOwn(METHODS, method)) return `${email} signed in at ${domain}.`;
  const { noun, sendsMail } = METHODS[method];
  return `${email} signed in at ${domain} ${sendsMail ? 'by' : 'with'} ${noun}.\nThe address was proven at ${at}.`;
}

async function readToken({ terminal }: Context, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  if (given === '-' && !terminal.interactive) {
    const token = (await terminal.readInput(MAX_BYTES)).trim();
    if (!token) throw usageError('There was no token on stdin.', PIPE_IT);
    return token;
  }
  if (!terminal.interactive) throw usageError('The token is missing. Cannot prompt here.', PIPE_IT);
  return (await promptHidden(terminal, { message: 'Token (this uses it up)', variable: 'The token' })).trim();
}
