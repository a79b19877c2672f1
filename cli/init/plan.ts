import { randomBytes } from 'node:crypto';
import type { Framework } from '../../templates/framework.ts';
import type { Integration } from '../../templates/render.ts';
import { additionTo, complete, valueIn } from './env-file.ts';
import { type Change, lookAt } from './files.ts';
import { stateInGit } from './git.ts';
import type { Shown } from './patch.ts';

/** What becomes of one file. */
export type Step = {
  change: Change;
  action: 'written' | 'unchanged' | 'overwritten';
  /** The change as it may be shown: without what is secret. */
  shown: Shown;
};

export type Plan = {
  steps: Step[];
  /** What the person should know, as sentences. */
  remarks: string[];
  /** Where the site will run, by its `.env`. */
  siteUrl: string;
};

const ENV = '.env';
const MASK = '•'.repeat(16);

/**
 * What an integration changes in a project; nothing is written.
 * @param root the project's directory, without symbolic links
 * @throws CommandError conflict for what can be no file
 */
export function planFor(root: string, { files, env, site }: Pick<Integration, 'files' | 'env' | 'site'>): Plan {
  const remarks: string[] = [];
  const steps = files.map(({ path, contents, example }): Step => {
    const after = Buffer.from(contents);
    const change: Change = { path, ...lookAt(root, path), after };
    const isSame = change.before !== null && textOf(change.before) === textOf(after);
    if (change.before && !isSame && example) {
      remarks.push(`Your ${path} stays as it is: link to \`/login\` in it.`);
      return { change, action: 'unchanged', shown: change };
    }
    return { change, action: isSame ? 'unchanged' : change.before ? 'overwritten' : 'written', shown: change };
  });
  if (env.length === 0) return { steps, remarks, siteUrl: site };
  const environment = planEnvironment(root, env, site);
  const ignoring = planIgnoring(root);
  return {
    steps: [...steps, environment.step, ...ignoring.steps],
    remarks: [...ignoring.remarks, ...remarks, ...environment.remarks],
    siteUrl: environment.siteUrl,
  };
}

// A checkout on Windows may have other line ends.
const textOf = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r\n', '\n');

function planEnvironment(root: string, env: Integration['env'], site: string): { step: Step; remarks: string[]; siteUrl: string } {
  const found = lookAt(root, ENV);
  const text = found.before?.toString() ?? '';
  const wanted = (secret: () => string) => env.map(({ name, value }) => ({ name, value: value || secret }));
  const { addition, different } = complete(
    text,
    wanted(() => randomBytes(32).toString('hex')),
  );
  const masked = complete(
    text,
    wanted(() => MASK),
  ).addition;
  const step = stepOfAddition(ENV, found, addition, masked, 0o600);
  const remarks = different.map((name) => `\`${ENV}\` sets ${name} to something else than ${valueFor(env, name)}; it was left so.`);
  const own = valueIn(text, 'SITE_URL');
  return { step, remarks, siteUrl: /^https?:/.test(own) && URL.canParse(own) ? new URL(own).origin : site };
}

/** The secret must not get into a repository. */
function planIgnoring(root: string): Pick<Plan, 'steps' | 'remarks'> {
  const state = stateInGit(root, ENV);
  if (state === 'tracked') {
    const remark = `git keeps \`${ENV}\`, and the secret with it: take it out by \`git rm --cached ${ENV}\`, and add it to \`.gitignore\`.`;
    return { steps: [], remarks: [remark] };
  }
  if (state !== 'open') return { steps: [], remarks: [] };
  const found = lookAt(root, '.gitignore');
  const addition = additionTo(found.before?.toString() ?? '', [ENV]);
  return { steps: [stepOfAddition('.gitignore', found, addition, addition)], remarks: [] };
}

/** Appends bytes; what is there stays byte for byte, whatever its encoding. */
function stepOfAddition(path: string, found: ReturnType<typeof lookAt>, addition: string, shown: string, mode?: number): Step {
  const { before } = found;
  const appended = (text: string) => Buffer.concat([before ?? Buffer.alloc(0), Buffer.from(text)]);
  return {
    change: { path, ...found, after: appended(addition), mode },
    action: addition === '' ? 'unchanged' : 'written',
    shown: { path, before, after: appended(shown), addition: shown },
  };
}

/** What is left to do in a project, as sentences; code stands in backticks. */
export function whatIsNext(framework: Framework, integration: Integration, plan: Plan, domain: string): string[] {
  const { loadEnv } = framework;
  const login = `${plan.siteUrl}/login`;
  const service = valueFor(integration.env, 'EMAILAUTH_URL');
  return [
    ...plan.remarks,
    ...integration.nextSteps,
    ...(loadEnv ? [loadEnv] : []),
    ...(isLocal(service) && !isLocal(plan.siteUrl)
      ? [`${service} is this machine: before you deploy, name the service that is public by --host.`]
      : []),
    isLocal(plan.siteUrl)
      ? `Try it: start your site at ${plan.siteUrl} and open ${login}.`
      : `Try it once it is deployed: open ${login}. What is wrong, \`emailauth doctor ${domain}\` finds.`,
  ];
}

const valueFor = (env: Integration['env'], wanted: string) => env.find(({ name }) => name === wanted)?.value ?? '';
const isLocal = (url: string) => /^http:\/\/(?:localhost|127\.0\.0\.1)(?::|$)/.test(url);
