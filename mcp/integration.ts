import { refusal } from '../contract/client.ts';
import { oneLine } from '../diagnostics/check.ts';
import { frameworkOf, frameworks } from '../templates/catalog.ts';
import type { Framework } from '../templates/framework.ts';
import { readSources } from '../templates/read.ts';
import { type Integration, render, type TemplateValues } from '../templates/render.ts';

/** The ids of all frameworks, for schemas. */
export const frameworkIds = frameworks.map(({ id }) => id) as [string, ...string[]];

/** Returns the files of a framework for one website. @throws ApiError for a value that the code cannot contain */
export async function renderIntegration(framework: Framework, filling: TemplateValues): Promise<Integration> {
  const sources = await readSources(framework);
  try {
    return render(framework, sources, filling);
  } catch (error) {
    if (error instanceof RangeError) throw refusal('bad_request', error.message, 'Correct it and try again.');
    throw error;
  }
}

/** Returns the framework with an id. @throws ApiError that suggests a similar one */
export function requireFramework(id: unknown): Framework {
  const framework = frameworkOf(String(id));
  if (!framework) throw refusal('bad_request', describeUnknownFramework(id), 'Give one of these ids, or one for the same language.');
  return framework;
}

/** Returns the message for an unknown framework, with a similar one if there is one, and all ids. */
export function describeUnknownFramework(given: unknown): string {
  const similar = findSimilarFramework(String(given));
  const question = similar ? ` Did you mean ${similar}?` : '';
  return `There is no framework "${oneLine(String(given), 40)}".${question} Known frameworks: ${frameworkIds.join(', ')}.`;
}

function findSimilarFramework(given: string): string | undefined {
  const text = lettersOf(given.slice(0, 100));
  if (text.length < 2) return undefined;
  const scored = frameworks.map(({ id, name }) => ({
    id,
    score: Math.max(...[id, lettersOf(name)].map((each) => similarity(each, text))),
  }));
  const [best] = scored.sort((one, other) => other.score - one.score);
  return best.score >= 3 ? best.id : undefined;
}

/** Returns the length of the common prefix of two names, or 100 when one contains or begins the other. */
function similarity(name: string, text: string): number {
  if (name.includes(text) || text.startsWith(name)) return 100;
  const different = [...name].findIndex((letter, i) => letter !== text[i]);
  return different < 0 ? name.length : different;
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');

/** A file of an integration; `contents` is absent where the text of the result has it. */
type ShownFile = Omit<Integration['files'][number], 'contents'> & { contents?: string };

/** Returns an integration as Markdown: every file in full, settings, commands and steps. */
export function formatIntegration(heading: string, integration: Omit<Integration, 'site'>): string {
  const fileSections = integration.files.map(({ contents, ...file }) => `## ${file.path}\n${roleOf(file)}\n${fenced(contents)}`);
  return formatSections(heading, fileSections, integration);
}

/** Returns the same without the contents of the files. @param note where the contents are */
export function formatOutline(
  heading: string,
  integration: Omit<Integration, 'site' | 'files'> & { files: ShownFile[] },
  note: string,
): string {
  const list = integration.files.map((file) => `- ${file.path}: ${roleOf(file)}`).join('\n');
  return formatSections(heading, [`## Files\n${list}\n\n${note}`], integration);
}

const roleOf = ({ role, example }: Pick<ShownFile, 'role' | 'example'>) => `${role}${example ? ' (an example)' : ''}`;

type Outline = Pick<Integration, 'env' | 'commands' | 'nextSteps'>;

function formatSections(heading: string, fileSections: string[], { env, commands, nextSteps }: Outline): string {
  const sections = [
    `# ${heading}`,
    ...fileSections,
    ...(env.length > 0
      ? [`## Environment\n${env.map(({ name, value, purpose }) => `- ${name}${value && `=${value}`} (${purpose})`).join('\n')}`]
      : []),
    ...(commands.length > 0 ? [`## Commands\n${commands.map((command) => `- \`${command}\``).join('\n')}`] : []),
    `## Next steps\n${numberedList(nextSteps)}`,
  ];
  return sections.join('\n\n');
}

/** Returns steps as a numbered list in Markdown. */
export const numberedList = (steps: readonly string[]) => steps.map((step, i) => `${i + 1}. ${step.replaceAll('\n', '\n   ')}`).join('\n');

/** Returns code between more backticks than it contains in a row (CommonMark §4.5). */
function fenced(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code.trimEnd()}\n${fence}`;
}
