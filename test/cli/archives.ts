import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, type Header, pack } from 'tar-stream';

export type Part = { name: string; body: Buffer; type?: Header['type']; linkname?: string };

/** Returns the entries of a .tar.gz, read without the code under test. */
export async function unpack(file: string): Promise<Part[]> {
  const tar = extract();
  tar.end(gunzipSync(await readFile(file)));
  const parts: Part[] = [];
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    parts.push({ name: entry.header.name, body: Buffer.concat(chunks), type: entry.header.type });
  }
  return parts;
}

export async function repack(file: string, parts: Part[]): Promise<string> {
  const tar = pack();
  for (const { name, body, type = 'file', linkname } of parts) {
    if (type === 'file') tar.entry({ name, type }, body);
    else tar.entry({ name, type, linkname });
  }
  tar.finalize();
  await writeFile(file, gzipSync(await buffer(tar as unknown as AsyncIterable<Buffer>)));
  return file;
}

// biome-ignore lint/suspicious/noExplicitAny: the tests write invalid values into it.
export function manifestOf(parts: Part[]): any {
  return JSON.parse(String(parts[0].body));
}

/** Returns the same entries with another manifest. */
export const withManifest = (parts: Part[], manifest: unknown): Part[] => [
  { ...parts[0], body: Buffer.from(JSON.stringify(manifest)) },
  ...parts.slice(1),
];

export const sha256 = (body: Buffer) => createHash('sha256').update(body).digest('hex');

/** Returns the rows of a table in a backup, whose texts must not contain commas or quotes. */
export function rowsOf(parts: Part[], table: string): Record<string, string>[] {
  const text = String(parts.find(({ name }) => name === `tables/${table}.csv`)?.body ?? '');
  const [head, ...lines] = text.trimEnd().split('\n');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [names[i], value])));
}
