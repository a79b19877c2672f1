import { query } from '../postgres.ts';
import { addTokens, measureSignIns, measureVerify, median, type Tokens } from './measure.ts';
import { compare, formatNumber, heading, row } from './report.ts';
import { type Contestant, registerWebsite, SITE, type Stage } from './stage.ts';

type Plan = { rows: number; rounds: number; connections: number; seconds: { signIns: number; verify: number } };

/** Compares the median times of the service on a database with many rows and on an empty one, in alternating rounds. */
export async function measureGrowth(stage: Stage, { rows, rounds, connections, seconds }: Plan): Promise<void> {
  const empty = await stage.start('service', await stage.createDatabase('service', 'empty'));
  const grown = await stage.start('service', await stage.createDatabase('service', 'grown'));
  for (const contestant of [empty, grown]) await registerWebsite(contestant);
  for (const insert of fill(rows)) await query(grown.databaseUrl, insert);
  await query(grown.databaseUrl, 'vacuum analyze');
  await query(grown.databaseUrl, 'checkpoint');

  const both: { contestant: Contestant; tokens: Tokens; signIns: number[]; verify: number[] }[] = [];
  for (const contestant of [empty, grown]) {
    const tokens = await addTokens(contestant, 'growth', Math.ceil(40_000 * (rounds + 1) * seconds.verify));
    both.push({ contestant, tokens, signIns: [], verify: [] });
  }
  for (let round = -1; round < rounds; round++)
    for (const { contestant, tokens, signIns, verify } of both) {
      const signIn = await measureSignIns(stage, contestant, connections, seconds.signIns);
      const verified = await measureVerify(stage, contestant, tokens, connections, seconds.verify);
      // The first round warms up.
      if (round < 0) continue;
      signIns.push(signIn.p50);
      verify.push(verified.p50);
    }
  const [small, big] = both.map(({ signIns, verify }) => ({ signIns: median(signIns), verify: median(verify) }));
  heading(`C. Growth to ${formatNumber(rows)} rows and open links`, 'empty', 'grown');
  row('sign-in, p50 ms', formatNumber(small.signIns, 1), formatNumber(big.signIns, 1));
  row('verify-token, p50 ms', formatNumber(small.verify, 2), formatNumber(big.verify, 2));
  compare('sign-in, grown ÷ empty', big.signIns / small.signIns, 'at most', 1.1);
  compare('verify-token, grown ÷ empty', big.verify / small.verify, 'at most', 1.1);
  await Promise.all([empty, grown].map(({ program }) => program.stop()));
}

/** Returns inserts of that many open attempts, unused tokens, remembered accounts, rate limits and audit rows each. */
function fill(rows: number): string[] {
  const n = `from generate_series(1, ${rows}) n`;
  const email = "'old-' || n || '@mail.example'";
  const browser = "sha256(('browser ' || n)::bytea)";
  // UUIDs of version 7 like those of the service: the time in milliseconds first.
  const id = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid`;
  return [
    `insert into sign_in_attempts (id, kind, email, language, browser, domain, host, forward_url, expires_at)
     select ${id}, 'site', ${email}, 'en', ${browser}, '${SITE}', '${SITE}', 'https://${SITE}/welcome', now() + interval '1 hour' ${n}`,
    `insert into tokens (hash, domain, host, email, browser, expires_at)
     select sha256(('old ' || n)::bytea), '${SITE}', '${SITE}', ${email}, ${browser}, now() + interval '1 hour' ${n}`,
    `insert into remembered_keys (selector, device, email, verifier, expires_at)
     select substr(sha256(('selector ' || n)::bytea), 1, 16), sha256(('device ' || n)::bytea), ${email}, sha256(n::text::bytea), now() + interval '400 days' ${n}`,
    `insert into sign_in_limits (key, hits, resets_at) select 'mailbox ' || ${email}, 1, now() + interval '1 hour' ${n}`,
    `insert into audit_log (action, email, domain) select 'sign_in_requested', ${email}, '${SITE}' ${n}`,
  ];
}
