import { goRecipes } from './recipes/go.ts';
import { phpRecipes } from './recipes/php.ts';
import { pythonRecipes } from './recipes/python.ts';
import { rubyRecipes } from './recipes/ruby.ts';
import { describeSites } from './scenarios.ts';

describeSites([...pythonRecipes, ...goRecipes, ...phpRecipes, ...rubyRecipes]);
