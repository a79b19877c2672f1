import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

// Without parameters: quality 11, the best.
const toBrotli = promisify<Uint8Array, Buffer>(brotliCompress);
const toGzip = promisify<Uint8Array, { level: number }, Buffer>(gzip);

/** Writes a compressed version of each file, FILE.br and FILE.gz, unless it would not be smaller. The service sends these. */
export async function compressFiles(directory: string): Promise<void> {
  const compress = async (name: string) => {
    const path = join(directory, name);
    const content = readFileSync(path);
    const versions = { br: await toBrotli(content), gz: await toGzip(content, { level: 9 }) };
    for (const [extension, version] of Object.entries(versions)) {
      if (version.length < content.length) writeFileSync(`${path}.${extension}`, version);
    }
  };
  await Promise.all(
    readdirSync(directory)
      .filter((name) => /\.(?:js|css|svg|json)$/.test(name))
      .map(compress),
  );
}
