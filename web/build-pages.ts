import { join } from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import { calls } from '../contract/calls.ts';
import { addressOf } from '../contract/client.ts';
import type { BuiltPage } from '../contract/pages.ts';
import { docPages, docPath, frameworkPages, markdownPath, promptPages } from '../docs/pages.ts';
import { type Head, heads, type Page, type PageName, pages, paths, SETUP_CALL, sourcesOf, WEBSITE_TABS } from './pages.ts';

/** Writes pages.json: for the service, what each page is and loads first (server/pages/built-web.ts). */
export const builtPages: Plugin = {
  name: 'built-pages',
  applyToEnvironment: ({ name }) => name === 'client',
  generateBundle(_, bundle) {
    const rows = (Object.keys(pages) as PageName[]).flatMap((name) => rowsOf(name, bundle));
    this.emitFile({ type: 'asset', fileName: 'pages.json', source: JSON.stringify(Object.fromEntries(rows)) });
  },
};

type Row = readonly [path: string, page: BuiltPage];

/** Returns the pages of a row of the table: several where its path is a pattern. */
function rowsOf(name: PageName, bundle: Rolldown.OutputBundle): Row[] {
  const page: Page = pages[name];
  const path = paths[name];
  if (page.frame === 'signin') return [[path, { entry: 'signin' }]];
  if (page.frame === 'redirect') return rowsOf(page.to, bundle).map(([, row]) => [path, row]);
  const { texts, calls: own, developerCalls = [] } = heads[name] ?? {};
  if (page.frame === 'static') {
    if (texts) return [[path, { entry: 'static', texts }]];
    // The pages of the documentation.
    const docs = [...docPages, ...frameworkPages, ...promptPages].filter(({ slug }) => docPath(slug) !== paths.guide);
    return docs.map(({ slug, title, description }) => [
      docPath(slug),
      { entry: 'static', texts: { title, description, markdown: markdownPath(slug) } },
    ]);
  }
  const built = {
    entry: 'portal' as const,
    scripts: scriptsOf(sourcesOf(page), bundle),
    calls: addressesOf(own),
    developerCalls: addressesOf([...(page.prefetches ?? []), ...developerCalls]),
  };
  if (name === 'website') {
    const folder = path.replace('/:tab?', '');
    const withSetup = { ...built, developerCalls: [...built.developerCalls, ...addressesOf([SETUP_CALL])] };
    const ofTabs = Object.keys(WEBSITE_TABS).map((tab): Row => {
      const scripts = scriptsOf([...sourcesOf(page), `features/websites/${tab}-tab.tsx`], bundle);
      return [`${folder}/${tab}`, { ...(tab === 'setup' ? withSetup : built), scripts }];
    });
    // It leads to a tab by the state of the set-up.
    return [[folder, withSetup], ...ofTabs];
  }
  return [[path, { ...built, texts }]];
}

const addressesOf = (list: Head['calls'] = []) => list.map(([name, input]) => addressOf(calls[name], input));

function scriptsOf(sources: readonly string[], bundle: Rolldown.OutputBundle): string[] {
  const scripts = new Set<string>();
  for (const source of sources) addScripts(source.split('#')[0], bundle, scripts);
  return [...scripts];
}

/** Adds the chunk of a file and those that it imports, without the first script. @throws Error when the file has no chunk */
function addScripts(source: string, bundle: Rolldown.OutputBundle, scripts: Set<string>): void {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const add = (chunk: Rolldown.OutputChunk | undefined) => {
    if (!chunk) throw new Error(`web/${source} has no chunk: the patterns of web/routes.tsx do not match it.`);
    if (chunk.isEntry || scripts.has(chunk.fileName)) return;
    scripts.add(chunk.fileName);
    for (const imported of chunk.imports) add(chunks.find(({ fileName }) => fileName === imported));
  };
  add(chunks.find(({ facadeModuleId }) => facadeModuleId === join(import.meta.dirname, source)));
}
