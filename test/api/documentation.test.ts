import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CallSpec, calls } from '../../contract/calls.ts';
import { errors } from '../../contract/errors.ts';
import { docPages, docPath, frameworkPages, markdownPath, promptPages } from '../../docs/pages.ts';
import { sectionsOf } from '../../docs/search.ts';
import { frameworks } from '../../templates/catalog.ts';
import { useService } from '../support/harness.ts';

const root = join(import.meta.dirname, '../..');
const allPages = [...docPages, ...frameworkPages, ...promptPages];
const MARKDOWN = 'text/markdown; charset=utf-8';

const { service } = await useService();

const get = (path: string, headers?: Record<string, string>) => service.client().get(path, headers);

/** Returns the text without code blocks and spans, whose brackets are not links. */
const withoutCode = (text: string) => text.replace(/^ *(`{3,})[^\n]*\n[\s\S]*?^ *\1`*$|`[^`\n]+`/gm, '');
const linksIn = (text: string) => [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
/** Returns the addresses that are links without brackets (GitHub Flavored Markdown, autolinks), without punctuation after them. */
const addressesIn = (text: string) =>
  [...withoutCode(text).matchAll(/(?<=^|[\s(*_~])https?:\/\/[^\s<|)]*[^\s<|)?!.,:;'"*_~]/gm)].map(([address]) => address);

/** Returns what is wrong with a link, or null. Links to other origins are not followed. */
async function faultOf(link: string, from: string): Promise<string | null> {
  const target = new URL(link, service.url + from);
  if (target.origin !== service.url) return target.protocol === 'https:' ? null : `${from}: ${link} is not https`;
  const { status, headers, text } = await get(target.pathname);
  const type = String(headers['content-type']).split(';')[0];
  const wanted = /\.md$/.test(target.pathname) ? 'text/markdown' : /\.txt$/.test(target.pathname) ? 'text/plain' : undefined;
  if (status !== 200) return `${from}: ${link} returns ${status}`;
  if (wanted ? type !== wanted : !['text/html', 'application/json'].includes(type)) return `${from}: ${link} is ${type}`;
  const anchor = decodeURIComponent(target.hash.slice(1));
  if (!anchor || !wanted) return null;
  return sectionsOf(text).some((section) => section.anchor === anchor) ? null : `${from}: ${link} has no such part`;
}

describe('for assistants', () => {
  test('llms.txt has the format of llmstxt.org and lists every page', async () => {
    const { status, headers, text } = await get('/llms.txt');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^# Email Auth\n\n> .+\n\n/);
    const [, ...sections] = text.split(/^## /m);
    for (const section of sections) expect(section).toMatch(/^[\w ]+\n\n(?:- \[[^\]]+\]\(http[^)\s]+\): .+\n+)+$/);
    expect(linksIn(text).sort()).toEqual(
      [
        ...[...docPages, ...frameworkPages, ...promptPages].map(({ slug }) => markdownPath(slug)),
        ...['/openapi.json', '/skill.md', '/llms-full.txt', markdownPath('assistants')],
      ]
        .map((path) => service.url + path)
        .sort(),
    );
  });

  test('every link of every text leads to an existing page and section of the right type', async () => {
    const faults = new Set<string>();
    for (const path of ['/llms.txt', '/skill.md', ...allPages.map(({ slug }) => markdownPath(slug))]) {
      const { status, headers, text } = await get(path);
      expect({ path, status, type: headers['content-type'] }).toEqual({
        path,
        status: 200,
        type: path.endsWith('.md') ? MARKDOWN : 'text/plain; charset=utf-8',
      });
      for (const link of linksIn(text)) {
        const fault = await faultOf(link, path);
        if (fault) faults.add(fault);
      }
      for (const address of addressesIn(text)) if (!URL.canParse(address)) faults.add(`${path}: ${address} cannot be opened`);
    }
    expect([...faults]).toEqual([]);
  });

  test('llms-full.txt contains every page and every framework below its URL', async () => {
    const { text } = await get('/llms-full.txt');
    for (const { slug } of [...docPages, ...frameworkPages]) {
      const copy = await get(markdownPath(slug));
      expect(text).toContain(`<!-- ${service.url}${markdownPath(slug)} -->\n\n${copy.text.trimEnd()}`);
    }
  });

  test.each(['/llms.txt', '/llms-full.txt', '/skill.md', '/openapi.json', '/webservices/email-auth/api.md'])(
    '%s is cacheable and returns 304 while it is unchanged',
    async (path) => {
      const { headers } = await get(path);
      expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect((await get(path, { 'If-None-Match': String(headers.etag) })).status).toBe(304);
    },
  );

  test.each([
    '/webservices/email-auth/nothing.md',
    '/webservices/email-auth/frameworks/none.md',
    '/webservices/email-auth/../../package.md',
    '/webservices/email-auth/%2e%2e%2f%2e%2e%2fREADME.md',
    '/webservices/email-auth/__proto__.md',
    '/README.md',
  ])('%s returns a short 404 in Markdown', async (path) => {
    const { status, headers, text } = await get(path);
    expect(status).toBe(404);
    expect(headers['content-type']).toBe(MARKDOWN);
    expect(headers['cache-control']).toBe('no-store');
    expect(text).toContain(`${service.url}/llms.txt`);
  });
});

describe('for people', () => {
  test('every page has a title, a description and a link to its Markdown version', async () => {
    for (const { slug, title, description } of allPages) {
      const { status, headers, text } = await get(docPath(slug), { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      expect({ slug, status }).toEqual({ slug, status: 200 });
      expect(headers.vary).toContain('Accept');
      expect(text).toContain(`<link rel="alternate" type="text/markdown" href="${markdownPath(slug)}" />`);
      expect(text).toContain(`<link rel="canonical" href="${service.url}${docPath(slug)}" />`);
      if (slug === 'overview') continue;
      expect(text).toContain(`<title>${title} · Email Auth</title>`);
      expect(text).toContain(`name="description" content="${description}"`);
    }
  });

  test.each(['text/markdown', 'text/markdown, text/html, */*', 'text/html;q=0.5, text/markdown'])(
    'a page requested with Accept %j is its Markdown version',
    async (accept) => {
      for (const slug of ['overview', 'quick-start', 'frameworks/express']) {
        const { headers, text } = await get(docPath(slug), { Accept: accept });
        expect(headers['content-type']).toBe(MARKDOWN);
        expect([headers.vary, headers['cache-control']]).toEqual([expect.stringContaining('Accept'), 'no-store']);
        expect(text).toBe((await get(markdownPath(slug))).text);
      }
      expect((await get('/', { Accept: accept })).text).toBe((await get('/llms.txt')).text);
      expect((await get('/status', { Accept: accept })).headers['content-type']).toContain('text/html');
    },
  );

  test.each(['*/*', 'text/*', 'text/html, text/markdown', 'image/png'])('a page requested with Accept %j is HTML', async (accept) => {
    expect((await get(docPath('quick-start'), { Accept: accept })).headers['content-type']).toContain('text/html');
  });

  test.each(['nothing', 'overview', 'frameworks/none', 'quick-start/more'])('%s returns 404', async (slug) => {
    expect((await get(docPath(slug).replace(/\/email-auth$/, `/email-auth/${slug}`))).status).toBe(404);
  });
});

test('no text asks anyone to run or install a package of ours from a registry, whose names are not reserved', async () => {
  const folders = ['docs/guide', 'docs/skill', 'dist/cli', 'dist/server', 'dist/templates'];
  const files = (await Promise.all(folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })))).flat();
  const paths = files.filter((file) => file.isFile() && !/\.map$/.test(file.name)).map((file) => join(file.parentPath, file.name));
  const others = ['README.md', 'docs/cli.md', 'docs/operations.md', 'server/README.md'].map((path) => join(root, path));
  const texts = await Promise.all([...paths, ...others].map(async (path) => [path, await readFile(path, 'utf8')] as const));
  const asks =
    /\b(?:npx|bunx|(?:npm|pnpm|yarn|bun) (?:i|install|add|exec|dlx|x|create))(?: +-[\w-]+(?:[ =]global)?)* +emailauth(?:-server)?\b/;
  expect(texts.filter(([, text]) => asks.test(text)).map(([path]) => path)).toEqual([]);
});

describe('one source', () => {
  test('the contract, openapi.json and the API reference list the same calls', async () => {
    const ofContract = Object.values(calls as Record<string, CallSpec>)
      .filter(({ development }) => !development)
      .map(({ method, path }) => `${method} ${path}`)
      .sort();
    const { openapi, servers, paths } = (await get('/openapi.json')).json;
    expect(openapi).toBe('3.1.0');
    expect(servers).toEqual([{ url: service.url }]);
    const described = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(ofContract);
    const { text } = await get(markdownPath('api'));
    expect([...text.matchAll(/^\| `([A-Z]+ \/(?:api|oauth)\/[^`]+)` \|/gm)].map(([, call]) => call).sort()).toEqual(ofContract);
    expect([...text.matchAll(/^\| `([a-z_]+)` \| \d{3} \|/gm)].map(([, code]) => code)).toEqual(Object.keys(errors));
  });

  test('the catalog, llms.txt and the frameworks page list the same frameworks', async () => {
    const ids = frameworks.map(({ id }) => id);
    const idsIn = (text: string) => [...text.matchAll(/\/frameworks\/([\w-]+)\.md\)/g)].map(([, id]) => id);
    expect(idsIn((await get('/llms.txt')).text)).toEqual(ids);
    expect([...new Set(idsIn((await get(markdownPath('frameworks'))).text))]).toEqual(ids);
  });

  test('the files and scripts that AGENTS.md names exist', async () => {
    const text = await readFile(join(root, 'AGENTS.md'), 'utf8');
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const named = [...text.matchAll(/`npm (?:run )?([\w:-]+)`/g)].map(([, script]) => script);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
    const paths = [...text.matchAll(/`((?:\.?[\w-]+\/)*[\w.-]+(?:\.\w+|\/))`/g)]
      .map(([, path]) => path)
      .filter((path) => !/NAME|^\.tsx?$|^dist\//.test(path));
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) await access(join(root, /^(?:index|signin)\.html$/.test(path) ? 'web' : '', path));
  });
});
