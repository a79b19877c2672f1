import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { frameworkOf, frameworks } from './catalog.ts';
import { assistantPrompt } from './prompt.ts';
import { readSources } from './read.ts';
import { render } from './render.ts';

const filling = { origin: 'https://auth.example.com', domain: 'shop.example', callbackPath: '/sign-in/done', language: 'lt' } as const;

/** Lines of code, in the languages whose comments begin with `//`, `#` or `*`. Go's braces and imports take lines of their own. */
const linesOfCode = (text: string) => text.split('\n').filter((line) => !/^\s*(?:$|\/\/|#|\/?\*)/.test(line)).length;
// Where there is a file for each route, each has imports of its own.
const MAX_LINES: Record<string, number> = { go: 105, nextjs: 70, sveltekit: 70 };

describe.each(frameworks)('$id', (framework) => {
  test('is filled in, and nothing is left to fill', async () => {
    const { files, env, commands, nextSteps } = render(framework, await readSources(framework), filling);
    const all = JSON.stringify([files, env, commands, nextSteps]);
    expect(all).not.toMatch(/__[A-Z]+__/);
    expect(all).toContain('https://auth.example.com');
    if (!framework.ownSettings) expect(all).toContain('https://shop.example');
    expect(all).toContain('/sign-in/done');
    expect(all).not.toContain('/auth/callback');
  });

  test('sends the domain, compares a state of its own, opens and closes a session, and says 503', async () => {
    const code = render(framework, await readSources(framework), filling)
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

  test('is short, and every file of its folder is in the catalogue', async () => {
    const sources = await readSources(framework);
    const lines = Object.entries(sources).map(([name, text]) => (/\.(?:html|jsonc|erb|blade\.php)$/.test(name) ? 0 : linesOfCode(text)));
    const sum = lines.reduce((total, count) => total + count, 0);
    expect(sum).toBeGreaterThanOrEqual(30);
    expect(sum).toBeLessThanOrEqual(MAX_LINES[framework.id] ?? 60);
    const folder = await readdir(new URL(`./${framework.id}`, import.meta.url));
    expect(folder.sort()).toEqual(framework.files.map(({ source }) => source).sort());
  });

  test('goes into a prompt that names service, domain and files', async () => {
    const integration = render(framework, await readSources(framework), filling);
    const prompt = assistantPrompt(framework, integration, filling);
    expect(prompt).toContain(`this ${framework.name} project, for the domain shop.example`);
    expect(prompt).toContain('verify-token?token=…&domain=shop.example');
    for (const { path, contents } of integration.files) expect(prompt).toContain(`--- ${path}\n${contents.trimEnd()}`);
  });
});

const express = frameworkOf('express') ?? frameworks[0];

test('localhost is on http, at the port of the framework’s development server', async () => {
  const siteWith = async (origin: string) =>
    render(express, await readSources(express), { origin, domain: 'localhost' }).env.find(({ name }) => name === 'SITE_URL')?.value;
  expect(await siteWith('http://localhost:4000')).toBe('http://localhost:3000');
  expect(await siteWith('http://localhost:3000')).toBe('http://localhost:3001');
});

test('a layout moves files; without one the steps tell of it', async () => {
  for (const framework of frameworks) {
    const sources = await readSources(framework);
    const unseen = render(framework, sources, filling);
    const usual = render(framework, sources, { ...filling, layout: null });
    expect(usual.files).toEqual(unseen.files);
    const next = framework.next.map((step) => step.replaceAll('__DOMAIN__', filling.domain));
    expect(usual.nextSteps).toEqual(next);
    for (const layout of framework.layouts ?? []) {
      expect(unseen.nextSteps).toContain(layout.hint);
      const moved = render(framework, sources, { ...filling, layout });
      expect(moved.nextSteps).toEqual(next);
      expect(moved.files.map(({ path }) => path)).not.toEqual(usual.files.map(({ path }) => path));
      expect(moved.files.map(({ contents }) => contents)).toEqual(usual.files.map(({ contents }) => contents));
    }
  }
});

test('files go where the callback path leads', async () => {
  const nextjs = frameworkOf('nextjs') ?? express;
  const astro = frameworkOf('astro') ?? express;
  expect(render(nextjs, await readSources(nextjs), filling).files.map(({ path }) => path)).toContain('app/sign-in/done/route.ts');
  const callback = render(astro, await readSources(astro), filling).files.find(({ path }) => path === 'src/pages/sign-in/done.ts');
  expect(callback?.contents).toContain("from '../../lib/auth'");
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
])('refuses %j', async (wrong) => {
  const sources = await readSources(express);
  expect(() => render(express, sources, { ...filling, ...wrong })).toThrow(RangeError);
});

test('takes a service at an address of IPv6', async () => {
  const { files } = render(express, await readSources(express), { ...filling, origin: 'http://[::1]:3000' });
  expect(files[0].contents).toContain("'http://[::1]:3000'");
});

test('a source that was not read is named', () => {
  expect(() => render(express, {}, filling)).toThrow('express/auth.js');
});

test('ids are names of folders, and no project without files is recognised', () => {
  expect(new Set(frameworks.map(({ id }) => id)).size).toBe(frameworks.length);
  for (const { recognised } of frameworks) expect(recognised.length).toBeGreaterThan(0);
});
