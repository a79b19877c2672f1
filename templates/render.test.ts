import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { frameworkOf, frameworks, MIN_SECRET_LENGTH } from './catalog.ts';
import { forNewProject, withVariant } from './framework.ts';
import { readSources } from './read.ts';
import { assistantPrompt, nextSteps, render } from './render.ts';
import { PAGE_STYLE } from './style.ts';

const values = { origin: 'https://auth.example.com', domain: 'shop.example', callbackPath: '/sign-in/done', language: 'lt' } as const;

/** Counts lines of code in languages whose comments start with `//`, `#` or `*`. */
const linesOfCode = (text: string) => text.split('\n').filter((line) => !/^\s*(?:$|\/\/|#|\/?\*)/.test(line)).length;
// Go has a line per import and brace; Next.js and SvelteKit repeat imports in a file per route, TypeScript has types, and Python, PHP
// and Ruby read `.env` themselves.
const MAX_LINES: Record<string, number> = {
  ...{ nextjs: 110, sveltekit: 95, fastify: 100 },
  ...{ laravel: 95, go: 190, flask: 105, fastapi: 100, django: 105, php: 125, sinatra: 95 },
};

/** Every framework, and as it is for each of its variants. */
const variants = frameworks.flatMap((framework) => [
  { ...framework, variant: 'standard' },
  ...(framework.variants ?? []).map((variant) => ({ ...withVariant(framework, variant), variant: variant.id })),
  ...(framework.newProject ? [{ ...forNewProject(framework), variant: 'new project' }] : []),
]);

describe.each(variants)('$id ($variant)', (framework) => {
  test('has all placeholders filled in', async () => {
    const { files, env, commands, nextSteps } = render(framework, await readSources(framework), values);
    const all = JSON.stringify([files, env, commands, nextSteps]);
    // `__DIR__` is PHP.
    expect(all).not.toMatch(/__(?!DIR__)[A-Z]+__/);
    expect(all).toContain('https://auth.example.com');
    if (!framework.ownSettings) expect(all).toContain('https://shop.example');
    expect(all).toContain('/sign-in/done');
    expect(all).not.toContain('/auth/callback');
  });

  test('sends the domain, compares a state, opens and closes a session, and responds with 503', async () => {
    const code = render(framework, await readSources(framework), values)
      .files.map(({ contents }) => contents)
      .join('\n');
    expect(code).toContain('/api/verify-token');
    expect(code).toMatch(/\bdomain\b/);
    expect(code).toContain('login_state');
    expect(code).toMatch(/httpOnly|httponly|HttpOnly|HTTPONLY|session\(\)|session\[|useSession|SessionMiddleware/);
    expect(code).toMatch(/logout/i);
    expect(code).toMatch(/503|ServiceUnavailable|service_unavailable/);
    expect(code).toMatch(/['"]?language['"]?(?::|=>| =>|,)? ?\{?['"]lt['"]/);
  });

  // test/integrations/templates/safety.ts tries the same at running sites, where the language is installed.
  test('signs with a key of its own, names the host, keeps no page, and checks where a logout comes from', async () => {
    const { files, env, nextSteps } = render(framework, await readSources(framework), values);
    const code = files.map(({ contents }) => contents).join('\n');
    if (env.some(({ name }) => name === 'SESSION_SECRET')) {
      expect(code).toMatch(/["'`]session:[$#{"]/);
      expect(code).toContain(String(MIN_SECRET_LENGTH));
      expect(code).toContain('openssl rand -hex 32');
    }
    // The host is in the name of the cookie of WordPress.
    expect(code).toMatch(/\bhost\b|\bHOST\b|\.Host\b|signed_in_host|COOKIEHASH/);
    // The cookie of the template, or the one of the framework, whose name is a setting of the app.
    expect(code + nextSteps.join('\n')).toContain('__Host-');
    expect(code).toMatch(/no-store|never_cache/);
    expect(code).toMatch(/origin|csrf|referer|button_to/i);
    expect(code).not.toMatch(/\b(?:900|15 \* )/);
  });

  // The files of a new project are the same, beside its entry file.
  test.skipIf(framework.variant === 'new project')('is short', async () => {
    const sources = await readSources(framework);
    const lines = framework.files.map(({ source: name }) =>
      /\.(?:html|jsonc|erb|blade\.php)$/.test(name) ? 0 : linesOfCode(sources[name]),
    );
    const sum = lines.reduce((total, count) => total + count, 0);
    expect(sum).toBeGreaterThanOrEqual(30);
    expect(sum).toBeLessThanOrEqual(MAX_LINES[framework.id] ?? 90);
  });

  test('shows its own pages in their language, on a phone and in both themes', async () => {
    const pages = render(framework, await readSources(framework), values).files.filter(({ contents }) =>
      contents.includes('<!doctype html>'),
    );
    for (const { contents } of pages) {
      expect(contents).toMatch(/<html lang=\\?"en\\?">/);
      expect(contents).toMatch(/<meta name="viewport" content="width=device-width"(?: \/)?>\s*<title>[\w -]+<\/title>\s*<style>\n:root/);
    }
  });

  test('has a prompt with the service, the domain and the files', async () => {
    const integration = render(framework, await readSources(framework), values);
    const prompt = assistantPrompt(framework, integration, values);
    expect(prompt).toContain(`this ${framework.name} project, for the domain shop.example`);
    expect(prompt).toContain('verify-token?token=…&domain=shop.example');
    for (const { path, contents } of integration.files) expect(prompt).toContain(`--- ${path}\n${contents.trimEnd()}`);
  });
});

test('the style contains nothing that ends or fills a string literal of a language', () => {
  expect(PAGE_STYLE).not.toMatch(/["'`$%\\#]|\{\{|\}\}|@/);
});

test.each(frameworks)('the files of the folder $id are those of the catalog', async ({ id }) => {
  const listed = variants.filter((framework) => framework.id === id).flatMap(({ files }) => files.map(({ source }) => source));
  expect((await readdir(new URL(`./${id}`, import.meta.url))).sort()).toEqual([...new Set(listed)].sort());
});

const express = frameworkOf('express') ?? frameworks[0];

test('localhost is http at the port of the development server', async () => {
  const sources = await readSources(express);
  const siteAt = (port?: number) => render(express, sources, { origin: 'http://localhost:4400', domain: 'localhost', port }).site;
  expect([siteAt(), siteAt(4000)]).toEqual(['http://localhost:3000', 'http://localhost:4000']);
});

test('a layout moves files; without one the next steps describe it', async () => {
  for (const framework of frameworks) {
    const sources = await readSources(framework);
    const unknown = render(framework, sources, values);
    const standard = render(framework, sources, { ...values, layout: null });
    expect(standard.files).toEqual(unknown.files);
    const next = render({ ...framework, layouts: [] }, sources, values).nextSteps;
    expect(standard.nextSteps).toEqual(next);
    for (const layout of framework.layouts ?? []) {
      expect(unknown.nextSteps).toContain(layout.hint);
      const moved = render(framework, sources, { ...values, layout });
      expect(moved.nextSteps).toEqual(next);
      expect(moved.files.map(({ path }) => path)).not.toEqual(standard.files.map(({ path }) => path));
      expect(moved.files.map(({ contents }) => contents)).toEqual(standard.files.map(({ contents }) => contents));
    }
  }
});

test('derives file paths from the paths of callback and login', async () => {
  const nextjs = frameworkOf('nextjs') ?? express;
  const astro = frameworkOf('astro') ?? express;
  expect(render(nextjs, await readSources(nextjs), values).files.map(({ path }) => path)).toContain('app/sign-in/done/route.ts');
  const callback = render(astro, await readSources(astro), values).files.find(({ path }) => path === 'src/pages/sign-in/done.ts');
  expect(callback?.contents).toContain("from '../../lib/auth'");
  const login = render(nextjs, await readSources(nextjs), { ...values, loginPath: '/members/sign-in' }).files[1];
  expect([login.path, login.contents]).toEqual(['app/members/sign-in/route.ts', expect.stringContaining("from '../../../lib/auth'")]);
});

test.each([
  { domain: "shop.example'); process.exit('" },
  { domain: 'shop' },
  { domain: '' },
  { origin: "https://auth.example.com';" },
  { origin: 'javascript:alert(1)' },
  { callbackPath: '/done\u0060;evil();//' },
  { callbackPath: '/../../etc/passwd' },
  { callbackPath: '//evil.example' },
  { callbackPath: 'done' },
  { callbackPath: '/login' },
  { callbackPath: '/Login' },
  { origin: 'http://[::1' },
  { language: 'de' as 'en' },
])('rejects %j', async (invalid) => {
  const sources = await readSources(express);
  expect(() => render(express, sources, { ...values, ...invalid })).toThrow(RangeError);
});

test('accepts a service at an IPv6 address', async () => {
  const { files } = render(express, await readSources(express), { ...values, origin: 'http://[::1]:4400' });
  expect(files[0].contents).toContain("'http://[::1]:4400'");
});

test('names a missing source', () => {
  expect(() => render(express, {}, values)).toThrow('express/auth.js');
});

test('ids are unique and every framework can be detected', () => {
  expect(new Set(frameworks.map(({ id }) => id)).size).toBe(frameworks.length);
  for (const { detectedBy } of frameworks) expect(detectedBy.length).toBeGreaterThan(0);
});

test('nextSteps returns three steps with the code to copy on a separate line', () => {
  const steps = nextSteps({ authUrl: 'https://auth.example.com/auth', domain: 'shop.example' });
  expect(steps.map((step) => step.split('\n').slice(1))).toEqual([
    ['https://auth.example.com/auth?forward_url=https%3A%2F%2Fshop.example%2Fauth%2Fcallback%3Fstate%3DSTATE'],
    ["curl 'https://auth.example.com/api/verify-token?token=TOKEN&domain=shop.example'"],
    [],
  ]);
});

test.each([
  ['https://auth.example.com/auth', "shop.example';id;'"],
  ["https://a';id;'.example.com/auth", 'shop.example'],
  ['javascript:alert(1)', 'shop.example'],
])('nextSteps rejects values with shell syntax: %s, %s', (authUrl, domain) => {
  expect(() => nextSteps({ authUrl, domain })).toThrow(RangeError);
});
