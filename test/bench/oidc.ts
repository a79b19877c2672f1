import { measureCodeFlows, medianOf, type Round } from './measure.ts';
import { compare, cpuOf, roundHeading, roundRow } from './report.ts';
import { type Contestant, registerWebsite, type Stage } from './stage.ts';

const CONTESTANTS = [
  ['service', 'service'],
  ['oidc-floor', 'bare oidc-provider, emailed link'],
  ['oidc-trivial', 'bare oidc-provider, trivial sign-in'],
] as const;

/** Measures whole code flows of the service and of a bare oidc-provider in turn, and prints both and their ratios. */
export async function compareCodeFlows(stage: Stage, options: { rounds: number; connections: number; seconds: number }): Promise<void> {
  const contestants: Contestant[] = [];
  for (const [kind] of CONTESTANTS) contestants.push(await stage.start(kind, await stage.createDatabase(kind, kind.replace('-', '_'))));
  await registerWebsite(contestants[0]);
  const measure = (contestant: Contestant) => measureCodeFlows(stage, contestant, options.connections, options.seconds);
  const measured = contestants.map((): Round[] => []);
  for (const contestant of contestants) await measure(contestant);
  for (let n = 0; n < options.rounds; n++)
    for (const [index, contestant] of contestants.entries()) measured[index].push(await measure(contestant));

  roundHeading(`Code flows, ${options.connections} at once`);
  const [ours, emailed, trivial] = measured.map(medianOf);
  for (const [index, round] of [ours, emailed, trivial].entries()) roundRow(CONTESTANTS[index][1], round);
  compare('flows/s ÷ oidc-provider with the emailed link', ours.rate / emailed.rate, 'at least', 2);
  compare('CPU ÷ oidc-provider with the emailed link', cpuOf(ours) / cpuOf(emailed), 'at most', 0.5);
  compare('CPU ÷ oidc-provider with the trivial sign-in', cpuOf(ours) / cpuOf(trivial), 'at most', 1);
}
