/**
 * Makes the JavaScript variants of the templates from those in TypeScript, beside them: a build runs it, and git ignores what it makes.
 * Plain JavaScript, since it runs before a build.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'sucrase';

const at = (...path) => fileURLToPath(new URL(join(...path), import.meta.url));

/** Makes all variants. The unit tests call it, too, before they start. */
export default function deriveTemplates() {
  const written = [];
  const write = (file, code) => {
    writeFileSync(at(file), code.replace(/\n{3,}/g, '\n\n'));
    written.push(at(file));
  };
  for (const framework of ['express', 'fastify', 'hono']) {
    const plain = withoutTypes(readFileSync(at(framework, 'auth.ts'), 'utf8'));
    write(`${framework}/auth.js`, plain);
    write(`${framework}/auth.cjs`, toCommonJs(plain));
    // The API of a Vite app is an Express app.
    if (framework === 'express') write('vite/auth.mjs', plain);
  }
  for (const name of readdirSync(at('nextjs')).filter((each) => /\.tsx?$/.test(each)))
    write(join('nextjs', name.replace('.ts', '.js')), withoutTypes(readFileSync(at('nextjs', name), 'utf8')));
  const format = ['format', '--write', '--vcs-enabled=false', ...written];
  execFileSync(process.execPath, [at('../node_modules/@biomejs/biome/bin/biome'), ...format], {
    cwd: at('..'),
    stdio: 'pipe',
  });
}

/** Returns JavaScript with the lines of TypeScript, without those that contain only types. */
function withoutTypes(typed) {
  // The declaration of a module goes with its comments, which would stay.
  const code = typed.replace(/^declare module .*\n(?: .*\n)*\}\n\n/m, '');
  const plain = transform(code, { transforms: ['typescript', 'jsx'], jsxRuntime: 'preserve', disableESTransforms: true }).code;
  const lines = code.split('\n');
  return plain
    .split('\n')
    .filter((line, i) => line.trim() !== '' || lines[i]?.trim() === '')
    .join('\n');
}

/** Returns an ES module as a CommonJS module. */
function toCommonJs(code) {
  const names = [...code.matchAll(/^export (?:async )?(?:const|function) (\w+)/gm)].map(([, name]) => name);
  const required = code
    .replace(/^import (\w+), (\{[^}]*\}) from ('[^']+');/gm, 'const $1 = require($3);\nconst $2 = $1;')
    .replace(/^import (\w+|\{[^}]*\}) from ('[^']+');/gm, 'const $1 = require($2);')
    .replace(/^export /gm, '');
  return `${required.trimEnd()}\n\nmodule.exports = { ${names.join(', ')} };\n`;
}
