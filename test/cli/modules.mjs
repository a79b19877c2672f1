// Preloaded by NODE_OPTIONS: writes every module that a program loads into the file that MODULES_FILE names.
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';

const file = JSON.stringify(process.env.MODULES_FILE);
const hook = `import { appendFileSync } from 'node:fs';
export function load(url, context, next) {
  appendFileSync(${file}, url + '\\n');
  return next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const { cache } = createRequire(import.meta.url);
process.on('exit', () => appendFileSync(process.env.MODULES_FILE, `${Object.keys(cache).join('\n')}\n`));
