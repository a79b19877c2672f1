import { nodeRecipes } from './recipes/node.ts';
import { describeSites } from './scenarios.ts';

describeSites(nodeRecipes, { returnPaths: true });
