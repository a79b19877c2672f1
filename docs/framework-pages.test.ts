import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { frameworkOf } from '../templates/catalog.ts';
import { projectTable, type TestedProject, testedProjects } from './framework-pages.ts';

const projects: readonly TestedProject[] = testedProjects;

test('the table of tested projects has a row for each project, with a framework of the catalog', () => {
  const rows = projectTable().split('\n').slice(2);
  expect(rows).toHaveLength(projects.length);
  expect(rows).toContain('| [Next.js](frameworks/nextjs.md) | TypeScript, app router | `create-next-app` 16.4.3 |');
  expect(rows).toContain('| [Next.js](frameworks/nextjs.md) | TypeScript, app router, `src/` | `create-next-app`, newest version |');
  for (const { id, framework } of projects) expect(frameworkOf(framework), id).toBeDefined();
});

test('the table of tested projects names the versions that the tests install', async () => {
  const manifest = await readFile(new URL('../test/integrations/generators/packages/package.json', import.meta.url), 'utf8');
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  for (const { id, generator, version } of projects) {
    const pinned = dependencies[generator.split(' ')[0]];
    if (pinned) expect(version, id).toBe(pinned);
  }
});
