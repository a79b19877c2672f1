import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ENTERED_METHODS } from '../../../contract/entered.ts';

const web = new URL('../../', import.meta.url);
const used = new Set(
  ['features/signin', 'features/passkeys', 'lib']
    .flatMap(filesOf)
    .map((file) => readFileSync(new URL(file, web), 'utf8'))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the key of a text about what a method enters is a template
    .flatMap((source) => ENTERED_METHODS.map((method) => source.replaceAll('auth.${method}_', `auth.${method}_`)))
    .flatMap((source) => source.match(/auth\.[a-z0-9_]+(?=['"`])/g) ?? []),
);
function filesOf(folder: string) {
  return readdirSync(new URL(folder, web))
    .filter((name) => !name.includes('.test.'))
    .map((name) => `${folder}/${name}`);
}

const texts = JSON.parse(readFileSync(new URL('../server/languages/texts/en.json', web), 'utf8'));

test('the sign-in pages and the page of passkeys use exactly the keys that have a text', () => {
  expect([...used].sort()).toEqual(Object.keys(texts).sort());
});
