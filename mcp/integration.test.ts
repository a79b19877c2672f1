import { expect, test } from 'vitest';
import { frameworkOf } from '../templates/catalog.ts';
import { describeUnknownFramework, formatIntegration, renderIntegration } from './integration.ts';

test.each([
  ['next.js', 'nextjs'],
  ['Next', 'nextjs'],
  ['expres', 'express'],
  ['svelte', 'sveltekit'],
  ['FastAPI 0.115', 'fastapi'],
  ['golang', 'go'],
  ['html', 'static'],
])('%s suggests %s', (given, meant) => {
  expect(describeUnknownFramework(given)).toContain(`Did you mean ${meant}?`);
});

test.each([
  ['nothing', ''],
  ['a sign', '?'],
  ['a word', 'zzz'],
  ['a number', 12],
  ['null', null],
  ['lines', `x\n${'y'.repeat(10_000)}`],
])('a name without a similar framework gets the list: %s', (_, given) => {
  const text = describeUnknownFramework(given);
  expect(text).not.toContain('Did you mean');
  expect(text).toContain('express, nextjs');
  expect(text.length).toBeLessThan(400);
  expect(text).not.toContain('\n');
});

test('a file with code fences gets a longer fence', async () => {
  const express = frameworkOf('express');
  if (!express) throw new Error('express is not in the catalogue');
  const integration = await renderIntegration(express, { origin: 'https://auth.example', domain: 'shop.example' });
  integration.files[0].contents = 'a\n````\nb';
  expect(formatIntegration('Heading', integration)).toContain('\n`````\na\n````\nb\n`````\n');
});
