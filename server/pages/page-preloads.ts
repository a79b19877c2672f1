import { readFileSync } from 'node:fs';
import { DOCS_PATH, docPath, slugAt } from '../../docs/pages.ts';

/** A chunk in the manifest of the build. */
type Chunk = { file: string; isEntry?: true; imports?: string[] };

/** What a page loads first, beside the scripts and styles of every page: its component, by the path in web/, and an address that it fetches. */
type Needs = { source: string; fetched?: string };

const needs: Record<string, Needs> = {
  '/': { source: 'features/landing/landing-page.tsx' },
  [DOCS_PATH]: { source: 'features/guide/guide-page.tsx' },
  [docPath('register')]: { source: 'features/registration/register-page.tsx' },
  '/status': { source: 'features/status/status-page.tsx', fetched: '/api/status' },
  '/tos': { source: 'features/legal/terms-page.tsx' },
  '/privacy': { source: 'features/legal/privacy-page.tsx' },
  '/iladmin': { source: 'features/admin/login-stats-page.tsx' },
};

/**
 * Returns a function from the path of a public page to the elements that make a browser load its parts together with the first script,
 * not only once that has run.
 * @throws Error when the web app is not built
 */
export function pagePreloads(webRoot: string): (path: string) => string {
  const chunks: Record<string, Chunk> = readJson(`${webRoot}chunks.json`);
  const docs: Record<string, string> = readJson(`${webRoot}docs.json`);
  return (path) => {
    const slug = slugAt(path);
    const page = needs[path] ?? (slug ? { source: 'features/docs/doc-page.tsx', fetched: docs[slug] } : null);
    if (!page) return '';
    const scripts = [...filesOf(page.source, chunks)].map((file) => `<link rel="modulepreload" href="/${file}" />`);
    // `crossorigin`, like a fetch of a script.
    return scripts.join('') + (page.fetched ? `<link rel="preload" as="fetch" href="${page.fetched}" crossorigin />` : '');
  };
}

/** Returns the files of a chunk and of its imports, without those of the first script. */
function filesOf(key: string, chunks: Record<string, Chunk>, files = new Set<string>()): Set<string> {
  const chunk = chunks[key];
  if (!chunk) throw new Error(`The web app has no chunk for ${key}. Run: npm run build`);
  if (chunk.isEntry || files.has(chunk.file)) return files;
  files.add(chunk.file);
  for (const imported of chunk.imports ?? []) filesOf(imported, chunks, files);
  return files;
}

function readJson(path: string) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error('The web app is not built. Run: npm run build', { cause });
  }
}
