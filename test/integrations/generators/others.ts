import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { go, OFFLINE } from '../templates/recipes/go.ts';
import { python } from '../templates/recipes/python.ts';
import { ruby } from '../templates/recipes/ruby.ts';
import { sources } from './other-sources.ts';

const run = promisify(execFile);

/** A fresh project in Python, PHP, Ruby or Go, as the generator or the tutorial of its framework makes it. */
export type OtherProject = {
  id: string;
  /** The id of the framework in templates/catalog.ts. */
  framework: string;
  /** For people: where it is from. */
  from: string;
  debianPackages: readonly string[];
  /** Creates the project in an empty directory. */
  make(directory: string): Promise<void>;
  /** Exits with 0 if the code of the project can be loaded. */
  check: readonly string[];
  /** Starts the project; `{port}` is replaced by the port, which is also in PORT. */
  start: readonly string[];
  /** The port of `start` as the documentation has it. */
  port: number;
  /** A page that the fresh project has. */
  page: string;
  env?: Readonly<Record<string, string>>;
};

/** Returns a function that writes the files of a tutorial. */
const files = (id: keyof typeof sources) => async (directory: string) => {
  for (const [path, text] of Object.entries<string>(sources[id])) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
};

const flask = { framework: 'flask', debianPackages: ['python3-flask'], port: 5000 };
const golang = {
  framework: 'go',
  debianPackages: ['golang-1.23-go'],
  check: [go ?? 'go', 'vet', '.'],
  start: ['sh', '-c', `${go ?? 'go'} build -o app . && exec ./app`],
  port: 8080,
  env: OFFLINE,
};
const sinatra = {
  framework: 'sinatra',
  debianPackages: ['ruby-sinatra', 'ruby-webrick'],
  check: [ruby, '-c', 'myapp.rb'],
  start: [ruby, 'myapp.rb', '-p', '{port}', '-o', '127.0.0.1'],
  port: 4567,
};
const php = { framework: 'php', debianPackages: ['php-cli'], port: 8000 };

/** Fresh projects in the languages that npm does not have. */
export const otherProjects: readonly OtherProject[] = [
  {
    ...flask,
    id: 'flask-app',
    from: "Flask's quickstart: app.py",
    make: files('flask-app'),
    check: [python, '-c', 'import app'],
    start: [python, '-m', 'flask', 'run', '--port', '{port}'],
    page: '/',
  },
  {
    ...flask,
    id: 'flask-factory',
    from: "Flask's tutorial: flaskr/__init__.py with create_app",
    make: files('flask-factory'),
    check: [python, '-c', 'import flaskr; flaskr.create_app()'],
    start: [python, '-m', 'flask', '--app', 'flaskr', 'run', '--port', '{port}'],
    page: '/hello',
  },
  {
    id: 'fastapi-main',
    framework: 'fastapi',
    from: "FastAPI's first steps: main.py",
    debianPackages: ['python3-fastapi', 'python3-uvicorn'],
    make: files('fastapi-main'),
    check: [python, '-c', 'import main'],
    start: [python, '-m', 'uvicorn', 'main:app', '--port', '{port}'],
    port: 8000,
    page: '/',
  },
  {
    id: 'fastapi-package',
    framework: 'fastapi',
    from: "FastAPI's bigger applications: app/main.py",
    debianPackages: ['python3-fastapi', 'python3-uvicorn'],
    make: files('fastapi-package'),
    check: [python, '-c', 'import app.main'],
    start: [python, '-m', 'uvicorn', 'app.main:app', '--port', '{port}'],
    port: 8000,
    page: '/items/',
  },
  {
    id: 'django-startproject',
    framework: 'django',
    from: 'django-admin startproject mysite .',
    debianPackages: ['python3-django'],
    async make(directory) {
      await run(python, ['-m', 'django', 'startproject', 'mysite', '.'], { cwd: directory });
    },
    check: [python, 'manage.py', 'check'],
    start: ['sh', '-c', `${python} manage.py migrate -v 0 && exec ${python} manage.py runserver --noreload 127.0.0.1:{port}`],
    port: 8000,
    page: '/admin/login/',
  },
  { ...golang, id: 'go-default-mux', from: 'Go: Writing Web Applications', make: files('go-default-mux'), page: '/monkeys' },
  { ...golang, id: 'go-mux', from: 'Go: the example of http.ServeMux', make: files('go-mux'), page: '/' },
  {
    ...php,
    id: 'php-index',
    from: 'A front controller with a session of its own',
    make: files('php-index'),
    check: ['php', '-l', 'index.php'],
    start: ['php', '-S', '127.0.0.1:{port}', 'index.php'],
    page: '/',
  },
  {
    ...php,
    id: 'php-public',
    from: 'A front controller in public/, with declare and namespace',
    make: files('php-public'),
    check: ['php', '-l', 'public/index.php'],
    start: ['php', '-S', '127.0.0.1:{port}', '-t', 'public', 'public/index.php'],
    page: '/',
  },
  { ...sinatra, id: 'sinatra-classic', from: "Sinatra's README: myapp.rb", make: files('sinatra-classic'), page: '/' },
  { ...sinatra, id: 'sinatra-modular', from: "Sinatra's README: a modular app", make: files('sinatra-modular'), page: '/' },
  {
    id: 'rails-new',
    framework: 'rails',
    from: 'rails new, without the parts whose gems Debian lacks',
    debianPackages: ['bundler', 'puma', 'ruby-byebug', 'ruby-rails'],
    async make(directory) {
      const skipped = ['bundle', 'javascript', 'sprockets', 'active-record', 'test', 'listen', 'git'].map((part) => `--skip-${part}`);
      // The generator names the app after its directory.
      await run('rails', ['new', 'shop', '--minimal', ...skipped], { cwd: directory });
      await rename(join(directory, 'shop'), `${directory}.shop`);
      await rm(directory, { recursive: true });
      await rename(`${directory}.shop`, directory);
      // `bundle install` takes a gem of Debian without a directory of its own, like racc, for a deleted one.
      await run('bundle', ['lock', '--local'], { cwd: directory });
    },
    check: [ruby, 'bin/rails', 'zeitwerk:check'],
    start: [ruby, 'bin/rails', 'server', '--binding', '127.0.0.1', '--port', '{port}'],
    port: 3000,
    page: '/',
  },
];
