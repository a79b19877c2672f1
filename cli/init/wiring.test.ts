import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Wiring } from '../../templates/framework.ts';
import { insertInto } from './wiring.ts';

const express: Wiring = {
  files: ['$ENTRY'],
  after: /^(?:const|let|var)\s+(?<app>\w+)\s*=\s*express\(\);?/m,
  insert: '$APP.use(auth);',
  import: "import { auth } from './auth.js';",
  unless: 'auth.js',
  instead: '',
};
const commonjs: Wiring = { ...express, import: "const { auth } = require('./auth');" };
const flask: Wiring = {
  ...express,
  after: /^[ \t]*(?<app>\w+) = Flask\([^)]*\)/m,
  insert: '$APP.register_blueprint(auth)',
  import: 'from auth import auth',
};

describe('inserts the lines of a wiring', () => {
  test.each<[string, Wiring, string, string, string]>([
    [
      'without semicolons, in an ES module',
      express,
      'app.js',
      "import express from 'express'\nconst app = express()\nconst port = 3000\n",
      "import express from 'express'\nimport { auth } from './auth.js'\nconst app = express()\napp.use(auth)\nconst port = 3000\n",
    ],
    [
      'with double quotes and another name of the app',
      express,
      'index.ts',
      'import express from "express";\nimport { db } from "./db";\n\nconst server = express();\n\nserver.listen(1);\n',
      'import express from "express";\nimport { db } from "./db";\nimport { auth } from "./auth";\n\nconst server = express();\nserver.use(auth);\n\nserver.listen(1);\n',
    ],
    [
      'in CommonJS with `var`, below the last call of require before the app',
      commonjs,
      'app.js',
      "var express = require('express');\nvar users = require('./routes/users');\n\nvar app = express();\nconst late = require('x');\n",
      "var express = require('express');\nvar users = require('./routes/users');\nconst { auth } = require('./auth');\n\nvar app = express();\napp.use(auth);\nconst late = require('x');\n",
    ],
    [
      'into an ES module by its extension, for a template in CommonJS',
      commonjs,
      'app.mjs',
      "import express from 'express';\nconst app = express();\n",
      "import express from 'express';\nimport { auth } from './auth.js';\nconst app = express();\napp.use(auth);\n",
    ],
    [
      'below an import over several lines',
      express,
      'app.js',
      "import {\n  a,\n  b,\n} from 'x';\nimport express from 'express';\nimport {\n  c,\n} from 'y';\nconst app = express();\n",
      "import {\n  a,\n  b,\n} from 'x';\nimport express from 'express';\nimport {\n  c,\n} from 'y';\nimport { auth } from './auth.js';\nconst app = express();\napp.use(auth);\n",
    ],
    [
      'in a file without a newline at its end',
      express,
      'app.js',
      "import express from 'express';\nconst app = express();",
      "import express from 'express';\nimport { auth } from './auth.js';\nconst app = express();\napp.use(auth);\n",
    ],
    [
      'with the line ends of Windows',
      express,
      'app.js',
      "import express from 'express';\r\nconst app = express();\r\napp.listen(1);\r\n",
      "import express from 'express';\r\nimport { auth } from './auth.js';\r\nconst app = express();\r\napp.use(auth);\r\napp.listen(1);\r\n",
    ],
    [
      'below a directive and a comment when there is no import',
      commonjs,
      'app.js',
      "#!/usr/bin/env node\n'use strict';\nconst app = express();\n",
      "#!/usr/bin/env node\n'use strict';\nconst { auth } = require('./auth');\n\nconst app = express();\napp.use(auth);\n",
    ],
    [
      'in Python, below a call over several lines',
      flask,
      'app.py',
      'from flask import (\n    Flask,\n    request,\n)\n\napp = Flask(\n    __name__,\n)\n\n@app.route("/")\n',
      'from flask import (\n    Flask,\n    request,\n)\nfrom auth import auth\n\napp = Flask(\n    __name__,\n)\napp.register_blueprint(auth)\n\n@app.route("/")\n',
    ],
    [
      'in a function of a Python package with its indentation, by a relative import',
      flask,
      'app/__init__.py',
      '"""The shop.\n\nMore.\n"""\nimport os\n\ndef create_app():\n    app = Flask(__name__)\n    return app\n',
      '"""The shop.\n\nMore.\n"""\nimport os\nfrom .auth import auth\n\ndef create_app():\n    app = Flask(__name__)\n    app.register_blueprint(auth)\n    return app\n',
    ],
    [
      'only the import when there is nothing to insert',
      { ...express, after: /^import express/m, insert: '' },
      'app.js',
      "import express from 'express';\nrest();\n",
      "import express from 'express';\nimport { auth } from './auth.js';\nrest();\n",
    ],
    [
      'at the start of a block, with its indentation',
      { ...express, after: /(?<app>\w+), opts\) \{/ },
      'app.js',
      "import path from 'node:path'\nexport default async function (fastify, opts) {\n  // Your code\n}\n",
      "import path from 'node:path'\nimport { auth } from './auth.js'\nexport default async function (fastify, opts) {\n  fastify.use(auth)\n  // Your code\n}\n",
    ],
    [
      'in place of the anchor',
      {
        ...express,
        after: /defineConfig\(\{/,
        replaces: true,
        insert: "defineConfig({\n  adapter: node({ mode: 'standalone' }),\n",
        import: "import node from '@astrojs/node';",
      },
      'astro.config.mjs',
      '// @ts-check\nimport { defineConfig } from "astro/config";\n\nexport default defineConfig({});\n',
      '// @ts-check\nimport { defineConfig } from "astro/config";\nimport node from "@astrojs/node";\n\nexport default defineConfig({\n  adapter: node({ mode: "standalone" }),\n});\n',
    ],
    [
      'without an import, and several lines',
      { ...express, import: undefined, insert: '$APP.a();\n$APP.b();' },
      'app.js',
      'const app = express();\nrest();\n',
      'const app = express();\napp.a();\napp.b();\nrest();\n',
    ],
  ])('%s', (_, wiring, path, before, after) => expect(insertInto(before, wiring, path)).toBe(after));
});

test('returns null without the anchor', () => expect(insertInto('const app = other();\n', express, 'app.js')).toBeNull());

test('keeps every line of the file, in order', () => {
  const line = fc.constantFrom(
    "import x from 'x';",
    'const app = express();',
    'code();',
    '// note',
    '',
    '  deep();',
    '} from "y";',
    'import {',
  );
  fc.assert(
    fc.property(fc.array(line), fc.boolean(), (lines, isWindows) => {
      const text = lines.join(isWindows ? '\r\n' : '\n');
      const changed = insertInto(text, express, 'app.js');
      if (changed === null) return !lines.includes('const app = express();');
      const left = [...lines];
      for (const each of changed.split(/\r?\n/)) if (each === left[0]) left.shift();
      return left.length === 0;
    }),
  );
});
