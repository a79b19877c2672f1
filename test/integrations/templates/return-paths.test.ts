import { goRecipes } from './recipes/go.ts';
import { phpRecipes } from './recipes/php.ts';
import { pythonRecipes } from './recipes/python.ts';
import { rubyRecipes } from './recipes/ruby.ts';
import { describeReturnPaths } from './return-paths.ts';

describeReturnPaths([...pythonRecipes, ...goRecipes, ...phpRecipes, ...rubyRecipes]);
