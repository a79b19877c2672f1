import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const apps = new URL('../test/integrations/clients/apps/', import.meta.url);
const text = await readFile(new URL('guide/openid-connect.md', import.meta.url), 'utf8');

/** Matches a code block with the path of its file after the language. */
const FILE = /^(```\w+ (\S+)\n)[\s\S]*?^```$/gm;

// `npm run docs` is this test with --update.
test('the page of OpenID Connect contains the files of the apps that the tests run', async () => {
  const files = [...text.matchAll(FILE)].map(([, , path]) => path);
  const contents = new Map(await Promise.all(files.map(async (path) => [path, await readFile(new URL(path, apps), 'utf8')] as const)));
  expect(files.length).toBeGreaterThan(8);
  const current = text.replace(FILE, (_, start: string, path: string) => `${start}${contents.get(path)}\`\`\``);
  await expect(current, 'docs/guide/openid-connect.md is out of date: run `npm run docs`').toMatchFileSnapshot('guide/openid-connect.md');
});

test('the page of OpenID Connect names the versions that the tests install', async () => {
  const { dependencies } = JSON.parse(await readFile(new URL('../packages/package.json', apps), 'utf8'));
  const tested = ['openid-client', '@auth/express', 'express-openid-connect', 'passport-openidconnect', 'oidc-client-ts', 'oauth4webapi'];
  for (const name of tested) {
    const row = text.split('\n').find((line) => line.startsWith('| [') && new RegExp(`(\\[|\`)${name}(\\]|\`)`).test(line));
    expect(row, name).toContain(`| ${dependencies[name]} |`);
  }
});
