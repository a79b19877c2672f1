import { expect, test } from 'vitest';
import { errors } from '../contract/errors.ts';
import { VerifyResponse } from '../contract/signin.ts';
import { answerSnippet, linkSnippet, redirectSnippet, returnSnippet, verifySnippet } from '../web/lib/snippets.ts';
import { frameworks } from './catalog.ts';
import { EXAMPLE_DOMAIN } from './doc-frameworks.ts';
import { docPageOf, frameworkPages, promptPages, slugAt, twinPath } from './doc-pages.ts';
import { sectionsOf } from './doc-text.ts';
import { docPages, readDoc, readSkill, searchDocs } from './docs.ts';
import { verifyRequest } from './next-steps.ts';
import { assistantPrompt } from './prompt.ts';
import { readSources } from './read.ts';
import { render } from './render.ts';

const origin = 'https://auth.example';
const filling = { origin };
const allPages = [...docPages, ...frameworkPages, ...promptPages];
const textOf = async (slug: string) => (await readDoc(slug, filling)) ?? '';

test.each(allPages)('$slug begins with its title and has every place filled in', async ({ slug, title }) => {
  const text = await textOf(slug);
  expect(sectionsOf(text)[0]).toMatchObject({ heading: title, level: 1 });
  expect(text).not.toMatch(/__(?:ORIGIN|PAGES|FRAMEWORKS|PROMPTS|SITE|DOMAIN|CALLBACK|LANGUAGE|UP)__/);
});

test.each(allPages)('the parts of $slug have anchors of their own', async ({ slug }) => {
  const anchors = sectionsOf(await textOf(slug)).map(({ anchor }) => anchor);
  expect(anchors.filter((anchor, at) => anchors.indexOf(anchor) !== at)).toEqual([]);
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
])('a page is found by its slug alone: %j', async (slug) => {
  expect((await readDoc(slug, filling)) !== null).toBe(slug === 'frameworks');
});

test('a path is the address of a page for people in one spelling', () => {
  expect(slugAt('/webservices/email-auth')).toBe('overview');
  expect(slugAt('/webservices/email-auth/frameworks/express')).toBe('frameworks/express');
  for (const path of ['/webservices/email-auth/overview', '/webservices/email-auth/api.md', '/webservices/email-auth/', '/api', '/']) {
    expect(slugAt(path)).toBeNull();
  }
  expect(twinPath('overview')).toBe('/webservices/email-auth.md');
});

test('links to pages are absolute, and code stays as it is', async () => {
  const text = await textOf('quick-start');
  expect(text).toContain(`[integration](${origin}/webservices/email-auth/integration.md)`);
  expect(text).not.toMatch(/\]\((?!https?:|#)/);
  expect(await textOf('frameworks/fastapi')).toContain('Depends(signed_in_email)');
});

test('the quick start shows the code of the guide', async () => {
  const text = await textOf('quick-start');
  const pieces = [linkSnippet, redirectSnippet(origin, EXAMPLE_DOMAIN), returnSnippet(EXAMPLE_DOMAIN)];
  const answers = [verifySnippet(origin, EXAMPLE_DOMAIN), verifyRequest(origin, EXAMPLE_DOMAIN), answerSnippet(EXAMPLE_DOMAIN)];
  for (const piece of [...pieces, ...answers]) expect(text).toContain(`\n${piece}\n`);
});

test.each(frameworks)('the pages of $id hold its files and its prompt, whole', async (framework) => {
  const integration = render(framework, await readSources(framework), { origin, domain: EXAMPLE_DOMAIN });
  const page = await textOf(`frameworks/${framework.id}`);
  for (const { path } of integration.files) expect(page).toContain(`\n### ${path}\n`);
  for (const { contents } of integration.files) expect(page).toContain(`\n${contents.trimEnd()}\n`);
  for (const said of [...integration.commands, ...integration.nextSteps, ...integration.env.map(({ name }) => `${name}=`)]) {
    expect(page).toContain(said);
  }
  expect(await textOf(`prompts/${framework.id}`)).toContain(
    `\n${assistantPrompt(framework, integration, { origin, domain: EXAMPLE_DOMAIN }).trimEnd()}\n`,
  );
});

test('the frameworks page and the assistants page name every framework', async () => {
  for (const { id, name } of frameworks) {
    expect(await textOf('frameworks')).toContain(`| [${name}](${origin}/webservices/email-auth/frameworks/${id}.md) |`);
    expect(await textOf('assistants')).toContain(`(${origin}/webservices/email-auth/prompts/${id}.md)`);
  }
});

test('the assistants page configures every client for the service that shows it', async () => {
  const page = await textOf('assistants');
  const configured = page
    .split('\n')
    .filter((line) => /"args":|^args =|claude mcp add emailauth |emailauth mcp (?:install|config)/.test(line));
  expect(configured).toHaveLength(7);
  for (const line of configured) expect(line).toMatch(/--host"?,? "?https:\/\/auth\.example["`\s]|--host https:\/\/auth\.example$/);
  expect(page).toContain('npm install --global .');
});

test('troubleshooting explains every reason of verify-token, and codes that exist', async () => {
  const parts = sectionsOf(await textOf('troubleshooting'));
  const named = parts.filter(({ heading, level }) => level === 3 && /^[a-z_]+$/.test(heading)).map(({ heading }) => heading);
  const reasons = VerifyResponse.options[1].shape.reason.options;
  expect(named).toEqual(expect.arrayContaining(reasons));
  const others = named.filter((name) => !(reasons as readonly string[]).includes(name) && name !== 'not_registered');
  expect(others.filter((code) => !(code in errors))).toEqual([]);
});

test('the skill has the front matter that clients look for', async () => {
  const [, name, description] = /^---\nname: ([a-z0-9-]{1,64})\ndescription: (.{40,1024})\n---\n\n# /.exec(await readSkill(filling)) ?? [];
  expect(name).toBe('email-auth');
  expect(description).toContain(origin);
  // YAML would read ": " in a plain text as a key.
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
])('a search for %j finds %s among the first three', async (query, place) => {
  const hits = await searchDocs(query, filling, 3);
  expect(hits.map(({ url }) => url)).toContain(`${origin}/webservices/email-auth/${place}`);
  for (const { slug, excerpt } of hits) {
    expect(docPageOf(slug)).toBeDefined();
    expect(excerpt.length).toBeLessThan(300);
  }
});

test.each(['', '   ', 'zzzzqqqq', '<>', '(*+?[', 'the and of'])('a search for %j finds nothing and does not fail', async (query) => {
  expect(await searchDocs(query, filling)).toEqual([]);
});

test('a search takes a query of any length, and no more hits than asked for', async () => {
  expect((await searchDocs('token '.repeat(100_000), filling, 2)).length).toBe(2);
});
