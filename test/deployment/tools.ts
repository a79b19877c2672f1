import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPinned } from '../pinned-packages.ts';

/** Runs a program to its end. @returns its output. Rejects with `stdout` and `stderr` when it fails. */
export const run = promisify(execFile);

/** The folder with the files that operators deploy. */
export const deployFolder = join(import.meta.dirname, '../../server/deploy');

/** Installs the pinned packages that check deployments, once. @returns the directory that has node_modules */
export const installTools = () => installPinned(join(import.meta.dirname, 'packages'), 'deployment', ['--legacy-peer-deps']);

/** Returns the parser of YAML: one value for each document. */
export async function yamlParser(): Promise<(text: string) => unknown[]> {
  const { parseAllDocuments } = createRequire(join(await installTools(), 'package.json'))('yaml');
  return (text) => parseAllDocuments(text, { merge: true }).map((document: { toJS(): unknown }) => document.toJS());
}

/** Returns the errors of a value by the schema of the Compose specification, each with its place. */
export async function composeErrors(value: unknown): Promise<string[]> {
  const home = await installTools();
  const load = createRequire(join(home, 'package.json'));
  const schema = JSON.parse(await readFile(join(home, 'node_modules/dclint/schemas/compose.schema.json'), 'utf8'));
  const Ajv = load('ajv').default;
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
  const validate = ajv.compile({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' });
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message, params }: Record<string, unknown>) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
}
