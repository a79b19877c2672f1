import { wholeSiteRecipes } from './recipes/whole-sites.ts';
import { describeSites } from './scenarios.ts';

describeSites(wholeSiteRecipes, { returnPaths: true });
