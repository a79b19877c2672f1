// Preloaded by NODE_OPTIONS: appends the name of every module that a program loads to the file in MODULES_FILE.
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
