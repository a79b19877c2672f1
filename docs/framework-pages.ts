import { frameworks } from '../templates/catalog.ts';
import type { Framework } from '../templates/framework.ts';
import { assistantPrompt } from '../templates/prompt.ts';
import { render, type Sources } from '../templates/render.ts';
import { docPageOf, promptPages } from './pages.ts';

/** The domain that pages show in place of the reader's. */
export const EXAMPLE_DOMAIN = 'shop.example';

/** Returns the page of one framework: its files, filled in for the example domain, with install commands and next steps. */
export function frameworkText(framework: Framework, sources: Sources, origin: string): string {
  const { files, env, commands, nextSteps } = render(framework, sources, { origin, domain: EXAMPLE_DOMAIN });
  return [
    `# ${docPageOf(`frameworks/${framework.id}`)?.title}`,
    `Login, callback, a protected page and logout in ${framework.language}, without a package to install from us. \`${EXAMPLE_DOMAIN}\` stands for your domain.
In a project, \`emailauth init --framework ${framework.id}\` writes the same files, filled in.`,
    ...(commands.length > 0 ? ['## Install', fenced(commands.join('\n'), 'sh')] : []),
    '## Files',
    ...files.flatMap(({ path, role, contents, example }) => [
      `### ${path}`,
      `${role}.${example ? ' An example: keep your own page if you have one.' : ''}`,
      fenced(contents.trimEnd(), path.split('.').at(-1)),
    ]),
    '## Environment',
    fenced(env.map(({ name, value, purpose }) => `# ${purpose}\n${name}=${value}`).join('\n'), 'sh'),
    ...(framework.variants ? ['## Variants', variantText(framework)] : []),
    '## Next steps',
    [
      ...nextSteps,
      ...(framework.loadEnv ? [framework.loadEnv] : []),
      `Register the domain if it is not registered yet: [quick start](quick-start.md#1-register-the-domain).`,
      'Test: a sign-in reaches the protected page; the same callback URL opened again is rejected; one with a different state is rejected.',
    ]
      .map((step) => `- ${step}`)
      .join('\n'),
    `The same as one message for an assistant: [${docPageOf(`prompts/${framework.id}`)?.title}](prompts/${framework.id}.md).`,
  ].join('\n\n');
}

/** Returns the kinds of projects that have files of their own, with the paths of these files. */
function variantText({ id, standard, variants = [] }: Framework): string {
  const list = variants.map(({ name, files = [] }) => `- ${name}: ${files.map(({ path }) => `\`${path}\``).join(', ')}`);
  return [
    `The files above are for ${standard}. They also exist for projects of these kinds:`,
    list.join('\n'),
    `\`emailauth init --framework ${id}\` writes those that fit the project. In the portal, select the kind above the code.`,
  ]
    .join('\n\n')
    .replaceAll('__LOGIN__', '/login')
    .replaceAll('__CALLBACK__', '/auth/callback');
}

/** Returns the page that contains a framework's prompt. */
export function promptText(framework: Framework, sources: Sources, origin: string): string {
  const values = { origin, domain: EXAMPLE_DOMAIN };
  return [
    `# ${docPageOf(`prompts/${framework.id}`)?.title}`,
    `Paste this into the assistant that works on your ${framework.name} project. Replace \`${EXAMPLE_DOMAIN}\` with your domain.`,
    fenced(assistantPrompt(framework, render(framework, sources, values), values).trimEnd(), 'text'),
  ].join('\n\n');
}

/** Returns a table of all frameworks with their languages and files. */
export function frameworkTable(): string {
  const rows = frameworks.map(
    ({ id, name, language, files }) => `| [${name}](frameworks/${id}.md) | ${language} | ${files.map(({ role }) => role).join(' · ')} |`,
  );
  return ['| Framework | Language | Files |', '|---|---|---|', ...rows].join('\n');
}

/** Returns a list of links to all prompts. */
export function promptList(): string {
  return promptPages.map(({ slug, title }) => `- [${title}](${slug}.md)`).join('\n');
}

/** Returns code in a fence that is longer than any fence inside it. */
function fenced(code: string, language = ''): string {
  const longest = Math.max(2, ...[...code.matchAll(/^[ \t]*(`{3,})/gm)].map(([, mark]) => mark.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}
