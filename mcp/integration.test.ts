import { expect, test } from 'vitest';
import { frameworkOf } from '../templates/catalog.ts';
import { integrationFor, integrationText, unknownFramework } from './integration.ts';

test.each([
  ['next.js', 'nextjs'],
  ['Next', 'nextjs'],
  ['expres', 'express'],
  ['svelte', 'sveltekit'],
  ['FastAPI 0.115', 'fastapi'],
  ['golang', 'go'],
  ['html', 'static'],
])('%s may be %s', (given, meant) => {
  expect(unknownFramework(given)).toContain(`Did you mean ${meant}?`);
});

test.each([
  ['nothing', ''],
  ['a sign', '?'],
  ['a word', 'zzz'],
  ['a number', 12],
  ['null', null],
  ['lines', `x\n${'y'.repeat(10_000)}`],
])('what is like none gets the list: %s', (_, given) => {
  const text = unknownFramework(given);
  expect(text).not.toContain('Did you mean');
  expect(text).toContain('express, nextjs');
  expect(text.length).toBeLessThan(400);
  expect(text).not.toContain('\n');
});

test('a file that has fences of its own does not leave its own', async () => {
  const express = frameworkOf('express');
  if (!express) throw new Error('express is not in the catalogue');
  const integration = await integrationFor(express, { origin: 'https://auth.example', domain: 'shop.example' });
  integration.files[0].contents = 'a\n````\nb';
  expect(integrationText('Heading', integration)).toContain('\n`````\na\n````\nb\n`````\n');
});
