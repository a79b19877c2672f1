import { docPages, frameworkPages, promptPages, slugAt, twinPath } from '../../templates/doc-pages.ts';
import { readDoc, readSkill } from '../../templates/docs.ts';
import { llmsFullText, llmsText } from '../../templates/llms.ts';
import type { Config } from '../config.ts';

export type Docs = ReturnType<typeof createDocs>;

/** The documentation as files, filled in with the service's own address. Each is put together once, when it is first asked for. */
export function createDocs({ publicUrl }: Pick<Config, 'publicUrl'>) {
  const filling = { origin: publicUrl };
  const sources = new Map<string, () => Promise<string | null>>([
    ['/llms.txt', async () => llmsText(filling)],
    ['/llms-full.txt', () => llmsFullText(filling)],
    ['/skill.md', () => readSkill(filling)],
  ]);
  for (const { slug } of [...docPages, ...frameworkPages, ...promptPages]) sources.set(twinPath(slug), () => readDoc(slug, filling));
  const read = new Map<string, Promise<string | null>>();

  return {
    /** The text of the file at a path; null: there is none. */
    async textAt(path: string): Promise<string | null> {
      const source = sources.get(path);
      if (!source) return null;
      const text = read.get(path) ?? source();
      read.set(path, text);
      text.catch(() => read.delete(path));
      return text;
    },

    /** The path of the file that tells what the page at a path tells; null: no page of the documentation is there. */
    twinOf(path: string): string | null {
      if (path === '/') return '/llms.txt';
      const slug = slugAt(path);
      return slug === null ? null : twinPath(slug);
    },

    /** What is answered for a Markdown file that is not there. */
    notFound: `# Not found\n\nThere is no such page. All pages are listed at ${publicUrl}/llms.txt.\n`,
  };
}
