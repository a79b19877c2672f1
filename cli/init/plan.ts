import { randomBytes } from 'node:crypto';
import { isThisMachine } from '../../contract/rules.ts';
import type { Framework } from '../../templates/framework.ts';
import type { Integration } from '../../templates/render.ts';
import { additionTo, complete, gitStatusOf, valueIn } from './env-file.ts';
import { type Change, readExisting, type ShownChange } from './files.ts';

/** What happens to one file. */
export type Step = {
  change: Change;
  action: 'written' | 'unchanged' | 'overwritten';
  /** The change without secrets. */
  shown: ShownChange;
};

export type Plan = {
  steps: Step[];
  /** Notes for the person, as sentences. */
  remarks: string[];
  /** Origin of the website, from its `.env`. */
  siteUrl: string;
};

const ENV = '.env';
const MASK = '•'.repeat(16);

/**
 * Returns what an integration changes in a project, without writing anything.
 * @param root the project's directory, without symbolic links
 * @throws CommandError conflict for a path that cannot be a file
 */
export function planFor(root: string, { files, env, site }: Pick<Integration, 'files' | 'env' | 'site'>): Plan {
  const remarks: string[] = [];
  const steps = files.map(({ path, contents, example }): Step => {
    const after = Buffer.from(contents);
    const change: Change = { path, ...readExisting(root, path), after };
    const isSame = change.before !== null && textOf(change.before) === textOf(after);
    if (change.before && !isSame && example) {
      remarks.push(`Your ${path} is unchanged: link to \`/login\` in it.`);
      return { change, action: 'unchanged', shown: change };
    }
    return { change, action: isSame ? 'unchanged' : change.before ? 'overwritten' : 'written', shown: change };
  });
  if (env.length === 0) return { steps, remarks, siteUrl: site };
  const environment = planEnvironment(root, env, site);
  const gitignore = planGitignore(root);
  return {
    steps: [...steps, environment.step, ...gitignore.steps],
    remarks: [...gitignore.remarks, ...remarks, ...environment.remarks],
    siteUrl: environment.siteUrl,
  };
}

// A checkout on Windows may have other line ends.
const textOf = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r\n', '\n');

function planEnvironment(root: string, env: Integration['env'], site: string): { step: Step; remarks: string[]; siteUrl: string } {
  const found = readExisting(root, ENV);
  const text = found.before?.toString() ?? '';
  const variables = (secret: () => string) => env.map(({ name, value }) => ({ name, value: value || secret }));
  const { addition, different } = complete(
    text,
    variables(() => randomBytes(32).toString('hex')),
  );
  const masked = complete(
    text,
    variables(() => MASK),
  ).addition;
  const step = appendStep(ENV, found, addition, masked, 0o600);
  const remarks = different.map((name) => `\`${ENV}\` has another value for ${name} than ${valueFor(env, name)}; it is unchanged.`);
  const siteUrl = valueIn(text, 'SITE_URL');
  return { step, remarks, siteUrl: /^https?:/.test(siteUrl) && URL.canParse(siteUrl) ? new URL(siteUrl).origin : site };
}

/** Keeps the secret out of the repository. */
function planGitignore(root: string): Pick<Plan, 'steps' | 'remarks'> {
  const status = gitStatusOf(root, ENV);
  if (status === 'tracked') {
    const remark = `git tracks \`${ENV}\`, and the secret in it: remove it with \`git rm --cached ${ENV}\`, and add it to \`.gitignore\`.`;
    return { steps: [], remarks: [remark] };
  }
  if (status !== 'untracked') return { steps: [], remarks: [] };
  const found = readExisting(root, '.gitignore');
  const addition = additionTo(found.before?.toString() ?? '', [ENV]);
  return { steps: [appendStep('.gitignore', found, addition, addition)], remarks: [] };
}

/** Returns a step that appends text; the existing bytes stay, whatever their encoding. */
function appendStep(path: string, found: ReturnType<typeof readExisting>, addition: string, shown: string, mode?: number): Step {
  const { before } = found;
  const appended = (text: string) => Buffer.concat([before ?? Buffer.alloc(0), Buffer.from(text)]);
  return {
    change: { path, ...found, after: appended(addition), mode },
    action: addition === '' ? 'unchanged' : 'written',
    shown: { path, before, after: appended(shown), addition: shown },
  };
}

/** Returns what is left to do in a project, as sentences with code in backticks. */
export function nextStepsAfter(framework: Framework, integration: Integration, plan: Plan, domain: string): string[] {
  const { loadEnv } = framework;
  const login = `${plan.siteUrl}/login`;
  const service = valueFor(integration.env, 'EMAILAUTH_URL');
  return [
    ...plan.remarks,
    ...integration.nextSteps,
    ...(loadEnv ? [loadEnv] : []),
    ...(isLocal(service) && !isLocal(plan.siteUrl)
      ? [`${service} is this machine: before you deploy, name the public service with --host.`]
      : []),
    isLocal(plan.siteUrl)
      ? `Try it: start your website at ${plan.siteUrl} and open ${login}.`
      : `Try it once it is deployed: open ${login}. \`emailauth doctor ${domain}\` finds problems.`,
  ];
}

const valueFor = (env: Integration['env'], wanted: string) => env.find(({ name }) => name === wanted)?.value ?? '';
const isLocal = (url: string) => /^http:/.test(url) && URL.canParse(url) && isThisMachine(new URL(url).hostname);
