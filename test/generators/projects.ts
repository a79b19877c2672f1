import { testedProjects } from '../../templates/tested-projects.ts';
import { javascriptProjects } from './javascript.ts';
import type { ProjectRecipe } from './project.ts';
import type { Generated } from './scenario.ts';

const recipes: Record<string, ProjectRecipe> = javascriptProjects;

/** Returns the projects of these frameworks. */
export const projectsOf = (...frameworks: readonly string[]): Generated[] =>
  testedProjects.filter(({ framework }) => frameworks.includes(framework)).map((project) => ({ ...project, recipe: recipes[project.id] }));
