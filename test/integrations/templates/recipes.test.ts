import { expect, test } from 'vitest';
import { frameworks } from '../../../templates/catalog.ts';
import { recipes } from './recipes/all.ts';

test('every framework of the catalog has a recipe', () => {
  expect(
    recipes
      .filter(({ variant }) => !variant)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(frameworks.map(({ id }) => id).sort());
});

test('every variant of the catalog has a recipe', () => {
  const variants = frameworks.flatMap(({ id, variants = [] }) => variants.map((variant) => `${id} ${variant.id}`));
  expect(recipes.flatMap(({ id, variant }) => (variant ? [`${id} ${variant}`] : [])).sort()).toEqual(variants.sort());
});
