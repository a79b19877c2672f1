import { frameworks } from './catalog.ts';
import { docPageOf, promptPages } from './doc-pages.ts';
import type { Framework } from './framework.ts';
import { assistantPrompt } from './prompt.ts';
import { render, type Sources } from './render.ts';

/** The domain that pages show where a reader has one of their own. */
export const EXAMPLE_DOMAIN = 'shop.example';

/** The page of one framework: its files, filled in for the example domain, and the steps around them. */
export function frameworkText(framework: Framework, sources: Sources, origin: string): string {
  const { files, env, commands, nextSteps } = render(framework, sources, { origin, domain: EXAMPLE_DOMAIN });
  const after = [...nextSteps, ...(framework.loadEnv ? [framework.loadEnv] : [])];
  return [
    `# ${docPageOf(`frameworks/${framework.id}`)?.title}`,
    `Login, callback, a protected page and logout in ${framework.language}, without a package of ours. \`${EXAMPLE_DOMAIN}\` stands for your domain.
In a project, \`emailauth init --framework ${framework.id}\` writes the same files, filled in.`,
    ...(commands.length > 0 ? ['## Install', fenced(commands.join('\n'), 'sh')] : []),
    '## Files',
    ...files.flatMap(({ path, role, contents, example }) => [
      `### ${path}`,
      `${role}.${example ? ' An example: a page of yours stays as it is.' : ''}`,
      fenced(contents.trimEnd(), path.split('.').at(-1)),
    ]),
    '## Environment',
    fenced(env.map(({ name, value, purpose }) => `# ${purpose}\n${name}=${value}`).join('\n'), 'sh'),
    '## Next steps',
    [
      ...after,
      `Register the domain, if it is not yet: [quick start](quick-start.md#1-register-the-domain).`,
      'Test: a sign-in reaches the protected page; the same callback opened again is refused; one with another state is refused.',
    ]
      .map((step) => `- ${step}`)
      .join('\n'),
    `An assistant gets all of this in one message: [${docPageOf(`prompts/${framework.id}`)?.title}](prompts/${framework.id}.md).`,
  ].join('\n\n');
}

/** The page that holds a framework's prompt, whole and to be copied. */
export function promptText(framework: Framework, sources: Sources, origin: string): string {
  const filling = { origin, domain: EXAMPLE_DOMAIN };
  return [
    `# ${docPageOf(`prompts/${framework.id}`)?.title}`,
    `Paste this into the assistant that works on your ${framework.name} project. Put your domain in the place of \`${EXAMPLE_DOMAIN}\`.`,
    fenced(assistantPrompt(framework, render(framework, sources, filling), filling).trimEnd(), 'text'),
  ].join('\n\n');
}

/** Every framework, its language and its files: a table. */
export function frameworkTable(): string {
  const rows = frameworks.map(
    ({ id, name, language, files }) => `| [${name}](frameworks/${id}.md) | ${language} | ${files.map(({ role }) => role).join(' · ')} |`,
  );
  return ['| Framework | Language | Files |', '|---|---|---|', ...rows].join('\n');
}

/** Every prompt: a list. */
export function promptList(): string {
  return promptPages.map(({ slug, title }) => `- [${title}](${slug}.md)`).join('\n');
}

/** Code in a fence that is longer than any in it. */
function fenced(code: string, language = ''): string {
  const longest = Math.max(2, ...[...code.matchAll(/^[ \t]*(`{3,})/gm)].map(([, mark]) => mark.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}
