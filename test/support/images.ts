import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

/** Returns a PNG chunk (RFC 2083 §3.2). */
function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Returns a white PNG with one bit per pixel, so that any size has a few kilobytes. @param more chunks before its end */
export function plainPng(width: number, height: number, more: Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const row = Buffer.alloc(1 + Math.ceil(Math.min(width, 20_000) / 8), 0xff);
  row[0] = 0;
  const rows = deflateSync(Buffer.concat(Array.from({ length: Math.min(height, 20_000) }, () => row)), { level: 1 });
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', rows),
    ...more,
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns a valid PNG of exactly this many bytes. */
export function pngOfBytes(bytes: number): Buffer {
  const rest = bytes - plainPng(40, 40).length - 12;
  return plainPng(40, 40, [pngChunk('teSt', Buffer.alloc(rest, 7))]);
}

const picture = (width: number, height: number, color: string) => sharp({ create: { width, height, channels: 3, background: color } });

export const png = (width = 64, height = 64, color = '#0b6e58') => picture(width, height, color).png().toBuffer();
export const jpeg = (width = 64, height = 64, color = '#0b6e58') => picture(width, height, color).jpeg().toBuffer();

/** Returns a rotated JPEG, 60 × 40 as stored and 40 × 60 upright, with a location and a copyright in its metadata. */
export const photoWithMetadata = () =>
  picture(60, 40, '#b3261e')
    .jpeg()
    .withExif({ IFD0: { Copyright: 'a secret of mine' }, IFD3: { GPSLatitude: '54/1 41/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .toBuffer();

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
const html = '<!doctype html><script>alert(1)</script>';

/** Returns files that must be rejected as icons, by description. */
export async function refusedFiles(): Promise<[string, Buffer][]> {
  const [goodPng, goodJpeg] = [await png(), await jpeg()];
  const [gif, webp, tiff, avif] = await Promise.all([
    picture(8, 8, 'red').gif().toBuffer(),
    picture(8, 8, 'red').webp().toBuffer(),
    picture(8, 8, 'red').tiff().toBuffer(),
    picture(8, 8, 'red').avif().toBuffer(),
  ]);
  const comment = Buffer.from(html);
  const marker = Buffer.from([0xff, 0xfe, 0, comment.length + 2]);
  return [
    ['an empty file', Buffer.alloc(0)],
    ['an SVG', Buffer.from(svg)],
    ['an SVG after an XML declaration', Buffer.from(`<?xml version="1.0"?>${svg}`)],
    ['HTML', Buffer.from(html)],
    ['a PDF', Buffer.from('%PDF-1.7\n%%EOF')],
    ['a GIF', gif],
    ['a WebP', webp],
    ['a TIFF', tiff],
    ['an AVIF', avif],
    ['random bytes', Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 251))],
    ['only the signature of a PNG', goodPng.subarray(0, 8)],
    ['the signature of a PNG before an SVG', Buffer.concat([goodPng.subarray(0, 8), Buffer.from(svg), goodPng.subarray(-8)])],
    ['half a PNG', goodPng.subarray(0, goodPng.length / 2)],
    ['a PNG without its pixels', Buffer.concat([goodPng.subarray(0, 60), goodPng.subarray(-12)])],
    ['half a JPEG', goodJpeg.subarray(0, goodJpeg.length / 2)],
    ['half a JPEG with an end', Buffer.concat([goodJpeg.subarray(0, goodJpeg.length / 2), goodJpeg.subarray(-2)])],
    ['a PNG followed by HTML', Buffer.concat([goodPng, comment])],
    ['a PNG followed by a ZIP', Buffer.concat([goodPng, Buffer.from('504b0506000000000000000000000000000000000000', 'hex')])],
    ['a PNG with HTML in its text', plainPng(9, 9, [pngChunk('tEXt', Buffer.from(`Comment\0${html}`))])],
    ['a JPEG followed by HTML', Buffer.concat([goodJpeg, comment])],
    ['a JPEG with HTML in its comment', Buffer.concat([goodJpeg.subarray(0, 2), marker, comment, goodJpeg.subarray(2)])],
    ['14,000 × 14,000 pixels', plainPng(14_000, 14_000)],
    ['a PNG that claims 2,000,000,000 × 1', plainPng(2_000_000_000, 0)],
    ['60,000 × 60,000 pixels of JPEG header', jpegOfSize(goodJpeg, 60_000)],
  ];
}

/** Returns a JPEG with another width and height in its frame header (ITU T.81 §B.2.2). */
function jpegOfSize(image: Buffer, side: number): Buffer {
  const copy = Buffer.from(image);
  const frame = copy.indexOf(Buffer.from([0xff, 0xc0]));
  copy.writeUInt16BE(side, frame + 5);
  copy.writeUInt16BE(side, frame + 7);
  return copy;
}
