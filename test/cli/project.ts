import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The minimal files of a project of each framework, by path. */
export const projects: Record<string, Record<string, string>> = {
  express: { 'package.json': '{"type":"module","dependencies":{"express":"^5.0.0"}}' },
  nextjs: { 'package.json': '{"dependencies":{"next":"16.0.0","react":"19.0.0"}}', 'app/page.tsx': '' },
  sveltekit: { 'package.json': '{"devDependencies":{"@sveltejs/kit":"^2.0.0"}}' },
  nuxt: { 'package.json': '{"dependencies":{"nuxt":"^4.0.0"}}', 'app/app.vue': '' },
  astro: { 'package.json': '{"dependencies":{"astro":"^5.7.0"}}' },
  hono: { 'package.json': '{"type":"module","dependencies":{"hono":"^4.0.0"}}' },
  fastify: { 'package.json': '{"type":"module","dependencies":{"fastify":"^5.0.0"}}' },
  vite: { 'package.json': '{"type":"module","devDependencies":{"vite":"^8.0.0"}}', 'index.html': '' },
  static: { 'index.html': '<h1>Shop</h1>' },
  flask: { 'requirements.txt': 'Flask==3.1\n' },
  fastapi: { 'pyproject.toml': '[project]\ndependencies = ["fastapi[standard]"]\n' },
  django: { 'manage.py': '', 'requirements.txt': 'Django\n' },
  go: { 'go.mod': 'module shop\n\ngo 1.22\n' },
  php: { 'index.php': "<?php\n\necho 'home';\n" },
  sinatra: { Gemfile: "gem 'sinatra'\n" },
  laravel: { 'composer.json': '{"require":{"php":"^8.2","laravel/framework":"^12.0"}}', 'public/index.php': '<?php' },
  rails: { Gemfile: "gem 'rails', '~> 8.0'\n" },
  wordpress: { 'wp-config-sample.php': '<?php', 'index.php': "<?php define('WP_USE_THEMES', true);" },
};

/** A project in a temporary directory. */
export type Project = {
  directory: string;
  put(files: Record<string, string>): Promise<void>;
  textAt(path: string): Promise<string>;
  /** Returns all paths and their texts (null for a directory), except those of git. */
  everything(): Promise<Record<string, string | null>>;
  /** Returns the texts of all files by path, except those of git. */
  files(): Promise<Record<string, string>>;
  remove(): Promise<void>;
};

export async function openProject(): Promise<Project> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'emailauth-project-')));
  const textAt = (path: string) => readFile(join(directory, path), 'utf8');
  const everything = async () => {
    const names = (await readdir(directory, { recursive: true })).filter((name) => !/^\.git(?:\/|$)/.test(name)).sort();
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await textAt(name).catch(() => null)])));
  };
  return {
    directory,
    async put(files) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(join(directory, dirname(path)), { recursive: true });
        await writeFile(join(directory, path), text);
      }
    },
    textAt,
    everything,
    files: async () =>
      Object.fromEntries(Object.entries(await everything()).filter((entry): entry is [string, string] => entry[1] !== null)),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
