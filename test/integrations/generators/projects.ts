import { dirname } from 'node:path';
import { type TestedProject, testedProjects } from '../../../docs/framework-pages.ts';
import { missingPackages } from '../templates/debian.ts';
import { recipes } from '../templates/recipes/all.ts';
import { go } from '../templates/recipes/go.ts';
import { javascriptProjects } from './javascript.ts';
import { type OtherProject, otherProjects } from './others.ts';
import type { ProjectRecipe } from './project.ts';
import { newest } from './tools.ts';

const ofJavaScript: Record<string, ProjectRecipe> = javascriptProjects;
const ofOthers = Object.fromEntries(otherProjects.map((project) => [project.id, recipeOf(project)]));

/** A project of the table, and how it is made. */
export type Generated = TestedProject & { recipe: ProjectRecipe };

/** Returns the projects of these frameworks that are not in a workspace. */
export const projectsOf = (...frameworks: readonly string[]): Generated[] =>
  generatedProjects().filter(({ id, framework }) => frameworks.includes(framework) && !isWorkspace(id));

/** Returns the projects in workspaces, of which several are made as one. */
export const workspaces = (): Generated[] => generatedProjects().filter(({ id }) => isWorkspace(id));

const isWorkspace = (id: string) => id.includes('-workspace');

/** Returns the projects of this run. @throws Error when the table names a project that cannot be made, or lacks one */
function generatedProjects(): Generated[] {
  const made = { ...ofJavaScript, ...ofOthers };
  const known = new Set<string>(testedProjects.map(({ id }) => id));
  const unlisted = Object.keys(made).filter((id) => !known.has(id));
  if (unlisted.length > 0) throw new Error(`docs/framework-pages.ts lacks ${unlisted.join(', ')}.`);
  const projects: readonly TestedProject[] = testedProjects;
  return projects.flatMap((project) => {
    if (!made[project.id]) throw new Error(`There is no recipe for ${project.id}.`);
    return project.nightly && !newest ? [] : [{ ...project, recipe: made[project.id] }];
  });
}

/** A project without npm: nothing is installed, and its check takes the place of a build. */
function recipeOf({ framework, make, check, start, env }: OtherProject): ProjectRecipe {
  const isAvailable = () => recipes.some((recipe) => recipe.id === framework && recipe.available());
  const missing = () => (isAvailable() ? null : `It needs ${missingPackages(framework)}.`);
  const programs = framework === 'go' && go?.includes('/') ? dirname(go) : undefined;
  return { make, build: check, start, env, programs, missing };
}
