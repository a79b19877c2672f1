import { type DocPage, docPages, frameworkPages, markdownPath, promptPages } from './pages.ts';
import { type DocValues, readDoc } from './read.ts';

const INTRODUCTION = `# Email Auth

> Passwordless email sign-in for any website: register a domain, send visitors to the sign-in page, and verify the token that they return with by one GET from your server. No package, no password.`;

/** Returns /llms.txt: the index of everything that assistants can read (https://llmstxt.org). */
export function llmsText({ origin }: DocValues): string {
  const links = (pages: readonly DocPage[]) =>
    pages.map(({ slug, title, description }) => `- [${title}](${origin}${markdownPath(slug)}): ${description}`).join('\n');
  return `${[
    INTRODUCTION,
    `The service is at ${origin}. To add it to an app, read the quick start and the page of the app's framework; both contain everything that the code needs. Verify tokens on the server, compare a \`state\` value of your own, and always send \`domain\`.`,
    '## Documentation',
    links(docPages.filter(({ optional }) => !optional)),
    '## Frameworks',
    links(frameworkPages),
    '## For programs',
    `- [OpenAPI 3.1](${origin}/openapi.json): Every call with its schemas.
- [MCP server](${origin}${markdownPath('assistants')}): Streamable HTTP at \`${origin}/mcp\`, or \`emailauth mcp --host ${origin}\` on stdio.
- [Skill](${origin}/skill.md): For an assistant that adds the sign-in to an app: four steps, and which tool or page to use.`,
    '## Optional',
    links([...docPages.filter(({ optional }) => optional), ...promptPages]),
    `- [Everything in one file](${origin}/llms-full.txt): All pages above except the prompts, one after the other.`,
  ].join('\n\n')}\n`;
}

/** Returns /llms-full.txt: all pages in one file, each below its address. Prompts are left out: they repeat the frameworks' files. */
export async function llmsFullText(values: DocValues): Promise<string> {
  const texts = await Promise.all(
    [...docPages, ...frameworkPages].map(
      async ({ slug }) => `<!-- ${values.origin}${markdownPath(slug)} -->\n\n${(await readDoc(slug, values))?.trimEnd()}`,
    ),
  );
  return `${[INTRODUCTION, ...texts].join('\n\n')}\n`;
}
