import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { extract, type Header, pack } from 'tar-stream';

export type Part = { name: string; body: Buffer; type?: Header['type']; linkname?: string };

const SUMS = 'SHA256SUMS';

/** Returns the entries of a .tar, read without the code under test. */
export async function unpack(file: string): Promise<Part[]> {
  const tar = extract();
  tar.end(await readFile(file));
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
  await writeFile(file, await buffer(tar as unknown as AsyncIterable<Buffer>));
  return file;
}

// biome-ignore lint/suspicious/noExplicitAny: the tests write invalid values into it.
export function headerOf(parts: Part[]): any {
  return JSON.parse(String(parts[0].body));
}

/** Returns the entries with the hashes that they have now. */
export function withSums(parts: Part[]): Part[] {
  const rest = parts.filter(({ name }) => name !== SUMS);
  const lines = rest.map(({ name, body }) => `${createHash('sha256').update(body).digest('hex')}  ${name}\n`);
  return [...rest, { name: SUMS, body: Buffer.from(lines.join('')) }];
}

/** Returns the same entries with another header. */
export const withHeader = (parts: Part[], header: unknown): Part[] =>
  withSums([{ ...parts[0], body: Buffer.from(JSON.stringify(header)) }, ...parts.slice(1)]);

/** Returns the rows of a table in a backup, whose texts must not contain what COPY escapes. Null is ''. */
export function rowsOf(parts: Part[], table: string): Record<string, string>[] {
  const names: string[] = headerOf(parts).tables[table];
  return parts
    .filter(({ name }) => name.startsWith(`tables/${table}.`))
    .flatMap(({ body }) => String(body).split('\n').slice(0, -1))
    .map((line) => Object.fromEntries(line.split('\t').map((value, i) => [names[i], value === '\\N' ? '' : value])));
}
