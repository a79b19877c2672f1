import type { Output } from '../../contract/routes.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, usageError } from '../exit.ts';
import { askHidden } from '../prompts.ts';

type Verdict = Output<'verifyToken'>;
type Reason = Extract<Verdict, { valid: false }>['reason'];

const REASONS: Readonly<Record<Reason, string>> = {
  used: 'It was verified before, and a token is good for one time.',
  expired: 'It has expired: a token is good for one hour.',
  unknown: 'This service has not made such a token.',
  other_domain: 'It is for another site, which can still verify it.',
};

/** Longer than any token. */
const MAX_BYTES = 4_096;

/** Asks the service whom a token is for. As an API key's owner only tokens of the owner's sites are valid. */
export async function verify(context: Context, given: { token?: string; domain?: string }): Promise<ExitCode> {
  const { terminal } = context;
  const token = await tokenOf(context, given.token);
  const isSomebody = (await context.credentials()).callerAt(await context.host()) !== null;
  const client = isSomebody ? (await context.signedIn()).client : await context.anonymous();
  const verdict = await client.verifyTokenByPost({ token, domain: given.domain });
  terminal.answer(verdict, verdict.valid ? `${verdict.email} signed in at ${verdict.domain}.` : `Not valid. ${REASONS[verdict.reason]}`);
  if (verdict.valid) terminal.note('The token is used up: the site cannot verify it any more.');
  return verdict.valid ? EXIT.ok : EXIT.no;
}

async function tokenOf({ terminal }: Context, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  if (given === '-' && !terminal.interactive) {
    const token = (await terminal.readInput(MAX_BYTES)).trim();
    if (!token) throw usageError('There was no token on stdin.', 'Pipe it in: `emailauth verify - < token.txt`');
    return token;
  }
  if (!terminal.interactive)
    throw usageError('The token is missing, and nobody can be asked here.', 'Pipe it in: `emailauth verify - < token.txt`');
  return (await askHidden(terminal, { message: 'Token (this uses it up)', variable: 'The token' })).trim();
}
