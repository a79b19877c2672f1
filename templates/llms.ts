import { type DocPage, docPages, frameworkPages, promptPages, twinPath } from './doc-pages.ts';
import { type DocFilling, readDoc } from './docs.ts';

const INTRODUCTION = `# Email Auth

> Passwordless email sign-in for any site: register a domain, send visitors to the sign-in page, verify the token they come back with by one GET from your server. No package, no password.`;

/** /llms.txt: the index of everything there is for assistants (https://llmstxt.org). */
export function llmsText({ origin }: DocFilling): string {
  const links = (pages: readonly DocPage[]) =>
    pages.map(({ slug, title, description }) => `- [${title}](${origin}${twinPath(slug)}): ${description}`).join('\n');
  return `${[
    INTRODUCTION,
    `The service is at ${origin}. To add it to an app, read the quick start and the page of the app's framework; both hold everything that the code needs. Verify tokens on the server, compare a state of your own, and always send \`domain\`.`,
    '## Documentation',
    links(docPages.filter(({ optional }) => !optional)),
    '## Frameworks',
    links(frameworkPages),
    '## For programs',
    `- [OpenAPI 3.1](${origin}/openapi.json): Every call with its schemas.
- [MCP server](${origin}${twinPath('assistants')}): Streamable HTTP at \`${origin}/mcp\`, or \`emailauth mcp --host ${origin}\` on stdio.
- [Skill](${origin}/skill.md): For an assistant that adds the sign-in to an app: four steps, and which tool or page to take.`,
    '## Optional',
    links([...docPages.filter(({ optional }) => optional), ...promptPages]),
    `- [Everything in one file](${origin}/llms-full.txt): All pages above but the prompts, one after the other.`,
  ].join('\n\n')}\n`;
}

/** /llms-full.txt: all pages in one, each below its address; prompts are left out, since they hold the frameworks' files again. */
export async function llmsFullText(filling: DocFilling): Promise<string> {
  const texts = await Promise.all(
    [...docPages, ...frameworkPages].map(
      async ({ slug }) => `<!-- ${filling.origin}${twinPath(slug)} -->\n\n${(await readDoc(slug, filling))?.trimEnd()}`,
    ),
  );
  return `${[INTRODUCTION, ...texts].join('\n\n')}\n`;
}
