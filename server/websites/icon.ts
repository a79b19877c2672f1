import { Fault } from '../../contract/errors.ts';

/** Longest side of a stored icon, in pixels. */
const MAX_SIDE = 512;
/** Maximum number of pixels to decode: with an interlaced PNG all of them are in memory at once. */
const MAX_PIXELS = 25_000_000;
const DECODE_SECONDS = 5;

type Format = 'png' | 'jpeg';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const PNG_END = Buffer.from('49454e44ae426082', 'hex');
const JPEG_START = Buffer.from('ffd8ff', 'hex');
const JPEG_END = Buffer.from('ffd9', 'hex');
// Text that a browser or a server could interpret if the file were served unchanged.
const MARKUP = /<(?:script|!doctype|iframe|\?php\s)/i;

/** Returns the format of an image by its first bytes, or null. */
export function formatOf(bytes: Buffer): Format | null {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'png';
  return bytes.subarray(0, JPEG_START.length).equals(JPEG_START) ? 'jpeg' : null;
}

/**
 * Makes an icon of an untrusted file: upright, at most 512 pixels wide and high, without metadata, and re-encoded, so that only the
 * picture remains.
 * @throws Fault bad_icon unless the file is one complete JPEG or PNG image of at most MAX_PIXELS
 */
export async function makeIcon(bytes: Buffer): Promise<Buffer> {
  const format = formatOf(bytes);
  if (!format) throw new Fault('bad_icon');
  const end = format === 'png' ? PNG_END : JPEG_END;
  const isWhole = bytes.subarray(-end.length).equals(end) && !MARKUP.test(bytes.toString('latin1'));
  if (!isWhole)
    throw new Fault('bad_icon', { message: 'This file is damaged, or contains more than an image. Save it as a JPG or PNG again.' });

  const sharp = await loadSharp();
  const image = sharp(bytes, { failOn: 'error', limitInputPixels: MAX_PIXELS, sequentialRead: true, pages: 1 });
  const { width, height, ...metadata } = await image.metadata().catch(refuse);
  if (metadata.format !== format) throw new Fault('bad_icon');
  if (width * height > MAX_PIXELS) throw tooManyPixels();
  return image
    .autoOrient()
    .resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true })
    .toFormat(format, format === 'png' ? { compressionLevel: 9 } : { quality: 88 })
    .timeout({ seconds: DECODE_SECONDS })
    .toBuffer()
    .catch(refuse);
}

let loading: Promise<typeof import('sharp').default> | undefined;

/** Loads sharp with the first icon, so that a service without icons needs neither time nor memory for it. */
function loadSharp() {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.concurrency(1);
    sharp.cache(false);
    // libvips has loaders for many formats, including SVG; only these two may run.
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] });
    return sharp;
  });
  return loading;
}

function refuse(cause: Error): never {
  if (/pixel limit/i.test(cause.message)) throw tooManyPixels();
  throw new Fault('bad_icon', { message: 'This image is damaged. Save it as a JPG or PNG again.', cause });
}

function tooManyPixels(): Fault {
  return new Fault('bad_icon', { message: 'This image has too many pixels. Choose one of at most 5,000 × 5,000.' });
}
