import { frameworkOf, frameworks } from '../templates/catalog.ts';
import { type Framework, forNewProject } from '../templates/framework.ts';
import { assistantPrompt, render, type Sources } from '../templates/render.ts';
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
    ...newProjectText(framework, sources, origin),
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

/** Returns how a project is made in an empty directory, as paragraphs. */
function newProjectText(framework: Framework, sources: Sources, origin: string): string[] {
  if (!framework.newProject) return [];
  const project = forNewProject(framework);
  const { files, commands, start = [] } = render(project, sources, { origin, domain: EXAMPLE_DOMAIN });
  const above = (index: number) => framework.files.find(({ source }) => source === project.files[index].source);
  const renamed = files.flatMap(({ path }, index) => {
    const file = above(index);
    return file && file.path !== path ? [`\`${file.path}\` as \`${path}\``] : [];
  });
  return [
    '## New project',
    ...(commands.length > 0 ? ['In an empty directory:', fenced(commands.join('\n'), 'sh')] : []),
    `Save the settings there as \`.env\`, and the files${renamed.length > 0 ? `: ${renamed.join(', ')}` : ''}. Add:`,
    ...files.flatMap(({ path, contents }, index) =>
      above(index) ? [] : [`### ${path}`, fenced(contents.trimEnd(), path.split('.').at(-1))],
    ),
    'Start it:',
    fenced(start.join('\n'), 'sh'),
  ];
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

/** Returns a table of the fresh projects in which the tests add the sign-in, with the versions of their generators. */
export function projectTable(): string {
  const projects: readonly TestedProject[] = testedProjects;
  const rows = projects.map(({ framework, kind, generator, version, nightly }) => {
    const origin = nightly ? `\`${generator}\`, newest version` : version ? `\`${generator}\` ${version}` : generator;
    return `| [${frameworkOf(framework)?.name}](frameworks/${framework}.md) | ${kind} | ${origin} |`;
  });
  return ['| Framework | Project | Origin |', '|---|---|---|', ...rows].join('\n');
}

/** A fresh project of a framework's generator or tutorial, in which the tests add the sign-in with `emailauth init`. */
export type TestedProject = {
  id: string;
  /** The id of a framework in the catalog. */
  framework: string;
  /** The command of the generator; without a version, a text about the origin of the project as Markdown. */
  generator: string;
  /** Of the generator. Absent when the one of the machine is taken. */
  version?: string;
  /** Only the nightly run has it, with the newest version: it takes minutes and is much like another one. */
  nightly?: true;
  /** What distinguishes it from the generator's other projects. */
  kind: string;
};

const nextApp = { framework: 'nextjs', generator: 'create-next-app', version: '16.4.3' };
const express = { framework: 'express', generator: '`npm init` and the guide of Express' };
const fastify = { framework: 'fastify', generator: 'fastify-cli generate', version: '8.0.2' };
const vite = { generator: 'create-vite', version: '9.3.0' };
const svelte = { framework: 'sveltekit', generator: 'sv create', version: '0.17.1' };

/** The projects of `npm run test:generators`; the documentation lists them. */
export const testedProjects = [
  { id: 'npm-express-cjs', ...express, kind: 'CommonJS, the app of the Express guide' },
  { id: 'npm-express-esm', ...express, kind: 'ES modules, the app of the Express guide' },
  { id: 'npm-express-ts', ...express, kind: 'TypeScript as CommonJS, strict' },
  { id: 'npm-express-ts-esm', ...express, kind: 'TypeScript as ES modules, with `tsc --init`' },
  { id: 'express-generator', framework: 'express', generator: 'express-generator', version: '4.16.1', kind: 'CommonJS, Express 4' },
  { id: 'yarn-workspace', ...express, kind: 'ES modules in a workspace of Yarn 1' },
  { id: 'next-app-ts', ...nextApp, kind: 'TypeScript, app router' },
  { id: 'next-app-ts-src', ...nextApp, kind: 'TypeScript, app router, `src/`', nightly: true },
  { id: 'next-app-js-src', ...nextApp, kind: 'JavaScript, app router, `src/`' },
  { id: 'next-pages-ts', ...nextApp, kind: 'TypeScript, pages router' },
  { id: 'next-pages-js-src', ...nextApp, kind: 'JavaScript, pages router, `src/`', nightly: true },
  { id: 'pnpm-workspace-next', ...nextApp, kind: 'TypeScript, app router, in a workspace of pnpm' },
  { id: 'nuxt', framework: 'nuxt', generator: 'nuxi init', version: '3.37.0', kind: 'minimal' },
  { id: 'sveltekit-ts', ...svelte, kind: 'minimal, TypeScript' },
  { id: 'sveltekit-js', ...svelte, kind: 'minimal, JavaScript' },
  { id: 'astro', framework: 'astro', generator: 'create-astro', version: '5.2.4', kind: 'minimal' },
  { id: 'hono-node', framework: 'hono', generator: 'create-hono', version: '0.19.5', kind: 'nodejs' },
  { id: 'fastify-cli-esm', ...fastify, kind: 'ES modules' },
  { id: 'fastify-cli-cjs', ...fastify, kind: 'CommonJS' },
  { id: 'pnpm-workspace-fastify', ...fastify, kind: 'ES modules, in a workspace of pnpm' },
  { id: 'vite-react', framework: 'vite', ...vite, kind: 'React and TypeScript without a back end' },
  { id: 'vite-vue', framework: 'vite', ...vite, kind: 'Vue without a back end' },
  { id: 'vite-react-express', framework: 'express', ...vite, kind: 'React with an Express back end' },
  { id: 'vite-vue-hono', framework: 'hono', ...vite, kind: 'Vue with a Hono back end' },
  { id: 'flask-app', framework: 'flask', generator: 'the quickstart of Flask', kind: '`app.py`' },
  { id: 'flask-factory', framework: 'flask', generator: 'the tutorial of Flask', kind: 'a package with `create_app`' },
  { id: 'fastapi-main', framework: 'fastapi', generator: 'the tutorial of FastAPI', kind: '`main.py`' },
  { id: 'fastapi-package', framework: 'fastapi', generator: 'the tutorial of FastAPI', kind: '`app/main.py`' },
  { id: 'django-startproject', framework: 'django', generator: '`django-admin startproject` of Debian', kind: 'as generated' },
  { id: 'go-default-mux', framework: 'go', generator: 'the tutorial of Go', kind: '`http.HandleFunc`' },
  { id: 'go-mux', framework: 'go', generator: 'the documentation of Go', kind: '`http.ServeMux`' },
  { id: 'php-index', framework: 'php', generator: 'by hand', kind: 'a front controller with its own session' },
  { id: 'php-public', framework: 'php', generator: 'by hand', kind: 'a front controller in `public/`' },
  { id: 'sinatra-classic', framework: 'sinatra', generator: 'the introduction of Sinatra', kind: 'a classic app' },
  { id: 'sinatra-modular', framework: 'sinatra', generator: 'the introduction of Sinatra', kind: 'a modular app' },
  { id: 'rails-new', framework: 'rails', generator: '`rails new` of Debian', kind: 'without the parts whose gems Debian lacks' },
] as const satisfies readonly TestedProject[];
