import { expect, test } from 'vitest';
import { errors } from '../contract/errors.ts';
import { VerifyResponse } from '../contract/signin.ts';
import { frameworks } from '../templates/catalog.ts';
import { forNewProject } from '../templates/framework.ts';
import { readSources } from '../templates/read.ts';
import { assistantPrompt, render, verifyRequest } from '../templates/render.ts';
import { linkSnippet, redirectSnippet, responseSnippet, returnSnippet, verifySnippet } from '../web/lib/snippets.ts';
import { EXAMPLE_DOMAIN } from './framework-pages.ts';
import { docPageOf, docPages, frameworkPages, markdownPath, promptPages, slugAt } from './pages.ts';
import { readDoc, readSkill } from './read.ts';
import { searchDocs, sectionsOf } from './search.ts';

const origin = 'https://auth.example';
const values = { origin };
const allPages = [...docPages, ...frameworkPages, ...promptPages];
const textOf = async (slug: string) => (await readDoc(slug, values)) ?? '';

test.each(allPages)('$slug starts with its title and has all placeholders filled in', async ({ slug, title }) => {
  const text = await textOf(slug);
  expect(sectionsOf(text)[0]).toMatchObject({ heading: title, level: 1 });
  expect(text).not.toMatch(/__(?:ORIGIN|PAGES|FRAMEWORKS|PROMPTS|SITE|DOMAIN|CALLBACK|LANGUAGE|UP)__/);
});

test.each(allPages)('the sections of $slug have unique anchors', async ({ slug }) => {
  const anchors = sectionsOf(await textOf(slug)).map(({ anchor }) => anchor);
  expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([]);
});

test.each([
  '',
  'nothing',
  '../cli',
  '../../package',
  'frameworks',
  'frameworks/',
  'frameworks/none',
  'constructor',
  '__proto__',
  'guide/api',
])('finds a page only by its slug: %j', async (slug) => {
  expect((await readDoc(slug, values)) !== null).toBe(slug === 'frameworks');
});

test('accepts one spelling of the path of a page', () => {
  expect(slugAt('/webservices/email-auth')).toBe('overview');
  expect(slugAt('/webservices/email-auth/frameworks/express')).toBe('frameworks/express');
  for (const path of ['/webservices/email-auth/overview', '/webservices/email-auth/api.md', '/webservices/email-auth/', '/api', '/']) {
    expect(slugAt(path)).toBeNull();
  }
  expect(markdownPath('overview')).toBe('/webservices/email-auth.md');
});

test('makes links absolute and leaves code unchanged', async () => {
  const text = await textOf('quick-start');
  expect(text).toContain(`[integration](${origin}/webservices/email-auth/integration.md)`);
  expect(text).not.toMatch(/\]\((?!https?:|#)/);
  expect(await textOf('frameworks/fastapi')).toContain('Depends(signed_in_email)');
});

test('the quick start contains the code of the portal guide', async () => {
  const text = await textOf('quick-start');
  const snippets = [linkSnippet, redirectSnippet(origin, EXAMPLE_DOMAIN), returnSnippet(EXAMPLE_DOMAIN)];
  const requests = [verifySnippet(origin, EXAMPLE_DOMAIN), verifyRequest(origin, EXAMPLE_DOMAIN), responseSnippet(EXAMPLE_DOMAIN)];
  for (const snippet of [...snippets, ...requests]) expect(text).toContain(`\n${snippet}\n`);
});

test.each(frameworks)('the pages of $id contain its files and its prompt', async (framework) => {
  const integration = render(framework, await readSources(framework), { origin, domain: EXAMPLE_DOMAIN });
  const page = await textOf(`frameworks/${framework.id}`);
  for (const { path } of integration.files) expect(page).toContain(`\n### ${path}\n`);
  for (const { contents } of integration.files) expect(page).toContain(`\n${contents.trimEnd()}\n`);
  for (const text of [...integration.commands, ...integration.nextSteps, ...integration.env.map(({ name }) => `${name}=`)]) {
    expect(page).toContain(text);
  }
  expect(await textOf(`prompts/${framework.id}`)).toContain(
    `\n${assistantPrompt(framework, integration, { origin, domain: EXAMPLE_DOMAIN }).trimEnd()}\n`,
  );
});

test.each(frameworks.filter(({ newProject }) => newProject))('the page of $id makes a new project', async (framework) => {
  const project = render(forNewProject(framework), await readSources(framework), { origin, domain: EXAMPLE_DOMAIN });
  const page = await textOf(`frameworks/${framework.id}`);
  for (const { path } of project.files) expect(page).toContain(path);
  expect(page).toContain(`\n${project.files[1].contents.trimEnd()}\n`);
  for (const command of [...project.commands, ...(project.start ?? [])]) expect(page).toContain(`\n${command}\n`);
});

test('the frameworks page and the assistants page list every framework', async () => {
  for (const { id, name } of frameworks) {
    expect(await textOf('frameworks')).toContain(`| [${name}](${origin}/webservices/email-auth/frameworks/${id}.md) |`);
    expect(await textOf('assistants')).toContain(`(${origin}/webservices/email-auth/prompts/${id}.md)`);
  }
});

test('the assistants page configures every client for the service that serves the page', async () => {
  const page = await textOf('assistants');
  const configured = page
    .split('\n')
    .filter((line) => /"args":|^args =|claude mcp add emailauth |emailauth mcp (?:install|config)/.test(line));
  expect(configured).toHaveLength(7);
  for (const line of configured) expect(line).toMatch(/--host"?,? "?https:\/\/auth\.example["`\s]|--host https:\/\/auth\.example$/);
  expect(page).toContain('npm install --global .');
});

test('troubleshooting explains every reason of verify-token and only existing error codes', async () => {
  const sections = sectionsOf(await textOf('troubleshooting'));
  const named = sections.filter(({ heading, level }) => level === 3 && /^[a-z_]+$/.test(heading)).map(({ heading }) => heading);
  const reasons = VerifyResponse.options[1].shape.reason.options;
  expect(named).toEqual(expect.arrayContaining(reasons));
  const others = named.filter((name) => !(reasons as readonly string[]).includes(name) && name !== 'not_registered');
  expect(others.filter((code) => !(code in errors))).toEqual([]);
});

test('the skill has the front matter that clients require', async () => {
  const [, name, description] = /^---\nname: ([a-z0-9-]{1,64})\ndescription: (.{40,1024})\n---\n\n# /.exec(await readSkill(values)) ?? [];
  expect(name).toBe('email-auth');
  expect(description).toContain(origin);
  // YAML parses ": " in a plain scalar as a key.
  expect(description).not.toMatch(/: | #/);
});

test.each([
  ['forward_url rules', 'integration#forward_url'],
  ['how do I verify a token', 'quick-start#4-verify-the-token'],
  ['token was used before', 'troubleshooting#used'],
  ['rate limits', 'api#limits'],
  ['other_domain', 'troubleshooting#other_domain'],
  ['SMTP_URL', 'operations#settings'],
  ['install MCP in Cursor', 'assistants#cursor'],
  ['express', 'frameworks/express#sign-in-with-express'],
  ['next.js', 'frameworks/nextjs#sign-in-with-nextjs'],
  ['state cookie', 'integration#state'],
])('a search for %j returns %s among the first three', async (query, place) => {
  const hits = await searchDocs(query, values, 3);
  expect(hits.map(({ url }) => url)).toContain(`${origin}/webservices/email-auth/${place}`);
  for (const { slug, excerpt } of hits) {
    expect(docPageOf(slug)).toBeDefined();
    expect(excerpt.length).toBeLessThan(300);
  }
});

test.each(['', '   ', 'zzzzqqqq', '<>', '(*+?[', 'the and of'])('a search for %j returns nothing', async (query) => {
  expect(await searchDocs(query, values)).toEqual([]);
});

test('a search accepts a query of any length and returns at most the given number of hits', async () => {
  expect((await searchDocs('token '.repeat(100_000), values, 2)).length).toBe(2);
});
