import { oneLine } from '../contract/check.ts';
import { frameworkOf, frameworks } from '../templates/catalog.ts';
import type { Framework } from '../templates/framework.ts';
import { readSources } from '../templates/read.ts';
import { type Integration, render, type TemplateValues } from '../templates/render.ts';
import { refusal } from './result.ts';

/** The ids of the catalogue, for schemas. */
export const frameworkIds = frameworks.map(({ id }) => id) as [string, ...string[]];

/** The files of a framework for one site. @throws ApiError for a value that has no place in the code */
export async function integrationFor(framework: Framework, filling: TemplateValues): Promise<Integration> {
  const sources = await readSources(framework);
  try {
    return render(framework, sources, filling);
  } catch (error) {
    if (error instanceof RangeError) throw refusal('bad_request', error.message, 'Correct it and ask again.');
    throw error;
  }
}

/** The framework of an id. @throws ApiError that names what may be meant */
export function frameworkNamed(id: unknown): Framework {
  const framework = frameworkOf(String(id));
  if (!framework) throw refusal('bad_request', unknownFramework(id), 'Give one of these ids, or the nearest of the same language.');
  return framework;
}

/** Says that there is no such framework, which is meant perhaps, and which there are. */
export function unknownFramework(given: unknown): string {
  const meant = frameworkMeant(String(given));
  const question = meant ? ` Did you mean ${meant}?` : '';
  return `There is no framework "${oneLine(String(given), 40)}".${question} There are ${frameworkIds.join(', ')}.`;
}

function frameworkMeant(given: string): string | undefined {
  const text = lettersOf(given.slice(0, 100));
  if (text.length < 2) return undefined;
  const likenesses = frameworks.map(({ id, name }) => ({
    id,
    likeness: Math.max(...[id, lettersOf(name)].map((each) => likenessOf(each, text))),
  }));
  const [best] = likenesses.sort((one, other) => other.likeness - one.likeness);
  return best.likeness >= 3 ? best.id : undefined;
}

/** How many letters two names begin with alike; more than any such when one holds the other. */
function likenessOf(name: string, text: string): number {
  if (name.includes(text) || text.startsWith(name)) return 100;
  const different = [...name].findIndex((letter, i) => letter !== text[i]);
  return different < 0 ? name.length : different;
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');

/** An integration as Markdown: every file in full, settings, commands and steps. */
export function integrationText(heading: string, { files, env, commands, nextSteps }: Omit<Integration, 'site'>): string {
  const sections = [
    `# ${heading}`,
    ...files.map(({ path, role, contents, example }) => `## ${path}\n${role}${example ? ' (an example)' : ''}\n${fenced(contents)}`),
    ...(env.length > 0
      ? [`## Environment\n${env.map(({ name, value, purpose }) => `- ${name}${value && `=${value}`} (${purpose})`).join('\n')}`]
      : []),
    ...(commands.length > 0 ? [`## Commands\n${commands.map((command) => `- \`${command}\``).join('\n')}`] : []),
    `## Next steps\n${numbered(nextSteps)}`,
  ];
  return sections.join('\n\n');
}

/** Steps as a numbered list. */
export const numbered = (steps: readonly string[]) => steps.map((step, i) => `${i + 1}. ${step.replaceAll('\n', '\n   ')}`).join('\n');

/** Between more backticks than the code has in a row (CommonMark §4.5). */
function fenced(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code.trimEnd()}\n${fence}`;
}
