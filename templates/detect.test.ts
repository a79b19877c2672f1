import { describe, expect, test } from 'vitest';
import { frameworkOf, frameworks } from './catalog.ts';
import { detectFrameworks, detectionFiles, detectLayout } from './detect.ts';

const idsOf = (files: Record<string, string>) => detectFrameworks(files).map(({ id }) => id);
const packageJson = (...names: string[]) => JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, '^1.0.0'])) });

test.each<[string, Record<string, string>, string[]]>([
  ['a dependency', { 'package.json': packageJson('express') }, ['express']],
  ['a development dependency', { 'package.json': '{"devDependencies":{"@sveltejs/kit":"^2"}}' }, ['sveltekit']],
  ['a manifest with a byte order mark', { 'package.json': `\uFEFF${packageJson('astro')}` }, ['astro']],
  ['a full-stack framework beside libraries', { 'package.json': packageJson('express', 'next', 'hono') }, ['nextjs']],
  ['a library and plain pages', { 'package.json': packageJson('fastify'), 'index.html': '' }, ['fastify']],
  ['plain pages only', { 'package.json': packageJson('react'), 'index.html': '' }, ['static']],
  ['pages of a bundler without a server', { 'package.json': packageJson('react', 'parcel'), 'index.html': '' }, []],
  ['a server beside pages of a bundler', { 'package.json': packageJson('vite', 'express'), 'index.html': '' }, ['express']],
  ['two libraries', { 'package.json': packageJson('express', 'fastify') }, ['express', 'fastify']],
  ['a package name with the same prefix', { 'package.json': packageJson('express-session', 'next-themes') }, []],
  ['a name outside the dependencies', { 'package.json': '{"name":"express","scripts":{"next":"x"},"keywords":["hono"]}' }, []],
  ['a manifest that is not valid JSON', { 'package.json': '{"dependencies": {"express":' }, []],
  ['a manifest with unexpected types', { 'package.json': '{"dependencies":["express"]}' }, []],
  ['a manifest that is null', { 'package.json': 'null' }, []],
  ['empty dependencies', { 'package.json': '{"dependencies":{}}' }, []],
  ['a requirement', { 'requirements.txt': 'gunicorn\r\nFlask[async] >= 3 # web\r\n' }, ['flask']],
  ['a requirement with the same prefix, and a comment', { 'requirements.txt': 'flask-cors==1\nfastapi.thing\n# flask\n' }, []],
  ['PEP 621', { 'pyproject.toml': '[project]\ndependencies = ["fastapi[standard]>=0.1"]\n' }, ['fastapi']],
  ['Poetry', { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.12"\nflask = "^3.0"\n' }, ['flask']],
  ['Pipenv', { Pipfile: '[packages]\nflask = "*"\n' }, ['flask']],
  ['a project with the name of a framework', { 'pyproject.toml': '[project]\nname = "my-flask-app"\n' }, []],
  ['Django beside a list of requirements', { 'manage.py': '', 'requirements.txt': 'django\nflask\n' }, ['django']],
  ['a gem', { Gemfile: "source 'https://rubygems.org'\ngem 'sinatra', '~> 4.0'\n" }, ['sinatra']],
  ['a gem with the same prefix, and a comment', { Gemfile: "gem 'sinatra-contrib'\n# gem 'sinatra'\n" }, []],
  ['Go', { 'go.mod': 'module site\n' }, ['go']],
  ['PHP with pages', { 'index.php': '', 'public/index.html': '' }, ['php']],
  ['WordPress, whose pages are PHP', { 'wp-config.php': '<?php', 'index.php': '<?php' }, ['wordpress']],
  ['WordPress by Composer', { 'composer.json': '{"require":{"roots/wordpress":"6.8"}}' }, ['wordpress']],
  [
    'Laravel',
    { 'composer.json': '{"require":{"laravel/framework":"^12.0"}}', 'public/index.php': '<?php', 'package.json': '{}' },
    ['laravel'],
  ],
  ['a package with the prefix of Laravel', { 'composer.json': '{"require":{"laravel/framework-tools":"^1.0"}}' }, []],
  ['Rails', { Gemfile: 'gem "rails", "~> 8.0"\ngem "sinatra"\n' }, ['rails']],
  ['a gem with the prefix of Rails', { Gemfile: "gem 'rails-i18n'\n" }, []],
  ['an empty project', {}, []],
])('detects %s', (_, files, ids) => expect(idsOf(files)).toEqual(ids));

test('the detection files include those of every framework', () => {
  for (const { detectedBy } of frameworks) for (const { file } of detectedBy) expect(detectionFiles).toContain(file);
});

describe('detects the layout', () => {
  const [nextjs, nuxt, express] = ['nextjs', 'nuxt', 'express'].map((id) => frameworkOf(id) ?? frameworks[0]);
  test.each([
    [nextjs, ['src', 'src/app'], 'src/'],
    [nextjs, ['src', 'src/pages'], 'src/'],
    [nextjs, ['app', 'src', 'src/app'], undefined],
    [nextjs, ['src', 'src/lib', 'app'], undefined],
    [nextjs, [], undefined],
    [nuxt, ['app.vue'], ''],
    [nuxt, ['app', 'app/app.vue'], undefined],
    [express, ['src/app'], undefined],
  ])('of %s with %j', (framework, paths, to) => expect(detectLayout(framework, (path) => paths.includes(path))?.to).toBe(to));
});
