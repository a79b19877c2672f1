import type { Recipe } from '../recipe.ts';
import { goRecipes } from './go.ts';
import { nodeRecipes } from './node.ts';
import { phpRecipes } from './php.ts';
import { pythonRecipes } from './python.ts';
import { rubyRecipes } from './ruby.ts';
import { wholeSiteRecipes } from './whole-sites.ts';

/** Every template that is run for real. */
export const recipes: readonly Recipe[] = [
  ...nodeRecipes,
  ...wholeSiteRecipes,
  ...pythonRecipes,
  ...goRecipes,
  ...phpRecipes,
  ...rubyRecipes,
];
