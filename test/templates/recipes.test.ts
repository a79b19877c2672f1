import { expect, test } from 'vitest';
import { frameworks } from '../../templates/catalog.ts';
import { recipes } from './recipes/all.ts';

test('every framework of the catalog has a recipe', () => {
  expect(recipes.map(({ id }) => id).sort()).toEqual(frameworks.map(({ id }) => id).sort());
});
