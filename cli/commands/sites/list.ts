import { STATS_DAYS } from '../../../contract/limits.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit.ts';
import { dayOf, nameOf } from '../../sites.ts';
import { table } from '../../terminal.ts';

const SIGN_INS = `SIGN-INS (${STATS_DAYS}D)`;

/** The caller's websites, for people with their verified sign-ins of 30 days. */
export async function list({ terminal, signedIn }: Context): Promise<ExitCode> {
  const { client } = await signedIn();
  const [sites, figures] = await Promise.all([client.listWebsites({}), terminal.json ? [] : client.websiteStats({})]);
  const signInsOf = (id: string) => figures.find((each) => each.id === id)?.completed ?? 0;
  const rows = sites.map((site) => [
    nameOf(site),
    site.verified ? 'yes' : 'no',
    signInsOf(site.id).toLocaleString('en').padStart(SIGN_INS.length),
    dayOf(site.createdAt),
  ]);
  const [head, ...lines] = table([['DOMAIN', 'VERIFIED', SIGN_INS, 'SINCE'], ...rows]).split('\n');
  terminal.answer(sites, sites.length > 0 ? [terminal.style('dim', head), ...lines].join('\n') : '');
  if (sites.length === 0) terminal.note('You have no websites yet. Add one: `emailauth sites add shop.example`');
  return EXIT.ok;
}
