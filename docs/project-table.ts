import { frameworkOf } from '../templates/catalog.ts';
import { type TestedProject, testedProjects } from '../templates/tested-projects.ts';

/** Returns a table of the fresh projects in which the tests add the sign-in, with the versions of their generators. */
export function projectTable(): string {
  const projects: readonly TestedProject[] = testedProjects;
  const rows = projects.map(({ framework, kind, generator, version, nightly }) => {
    const origin = nightly ? `\`${generator}\`, newest version` : version ? `\`${generator}\` ${version}` : generator;
    return `| [${frameworkOf(framework)?.name}](frameworks/${framework}.md) | ${kind} | ${origin} |`;
  });
  return ['| Framework | Project | Origin |', '|---|---|---|', ...rows].join('\n');
}
