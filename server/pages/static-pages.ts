import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { ORIGIN_PLACEHOLDER, type PageTexts } from '../../contract/pages.ts';
import { readBuilt } from './built-web.ts';

type Site = { origin: string; isLocal: boolean; hasInbox: boolean };

/** Renders a static page (web/static-server.tsx). */
type RenderStatic = (path: string | null, site: Site, readDoc: (slug: string) => unknown) => Promise<string>;

/** A page, as it is and compressed, with the beginning of its entity tags. */
export type RenderedPage = { tag: string; br: Buffer; gzip: Buffer; identity: Buffer };

const toGzip = promisify<Uint8Array, Buffer>(gzip);
const compressToBrotli = promisify<Uint8Array, { params: Record<number, number> }, Buffer>(brotliCompress);
/** The first visitor waits for it: the best quality takes twenty times as long, for a tenth of the size. */
const toBrotli = (content: Uint8Array) => compressToBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } });

/** A page at a path; null: that of unknown paths. */
export type StaticPage = { path: string; texts: PageTexts } | null;

/**
 * Returns a function that returns a page which is the same for everyone. It is rendered and compressed at its first request of a day,
 * because it names the day or the year. It contains nothing of a request, so that its compressed length reveals nothing (BREACH).
 * @param documentOf returns the document of a page without its content, at `<!--page-->`
 */
export function createStaticPages(
  webRoot: string,
  site: Site,
  documentOf: (page: StaticPage) => string,
): (page: StaticPage) => Promise<RenderedPage> {
  let render: RenderStatic | undefined;
  let day = '';
  const pages = new Map<string | null, Promise<RenderedPage>>();

  const readDoc = (slug: string) =>
    JSON.parse(readBuilt(`${webRoot}renderer/docs/${slug}.json`).replaceAll(ORIGIN_PLACEHOLDER, site.origin));

  const renderPage = async (page: StaticPage): Promise<RenderedPage> => {
    render ??= createRequire(import.meta.url)(`${webRoot}renderer/static.cjs`).renderStatic as RenderStatic;
    const content = await render(page?.path ?? null, site, readDoc);
    const identity = Buffer.from(documentOf(page).replace('<!--page-->', () => content));
    const [br, zipped] = await Promise.all([toBrotli(identity), toGzip(identity)]);
    return { tag: createHash('sha256').update(identity).digest('base64url').slice(0, 22), br, gzip: zipped, identity };
  };

  return (page) => {
    const today = new Date().toDateString();
    if (today !== day) pages.clear();
    day = today;
    const key = page?.path ?? null;
    const rendered = pages.get(key) ?? renderPage(page);
    pages.set(key, rendered);
    rendered.catch(() => pages.delete(key));
    return rendered;
  };
}
