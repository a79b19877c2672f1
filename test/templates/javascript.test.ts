import { nodeRecipes } from './recipes/node.ts';
import { wholeSiteRecipes } from './recipes/whole-sites.ts';
import { describeSites } from './scenarios.ts';

describeSites([...nodeRecipes, ...wholeSiteRecipes]);
