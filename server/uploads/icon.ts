import { Fault } from '../../contract/errors.ts';

/** An icon's longest side as it is kept, in pixels. */
const SIDE = 512;
/** Pixels that are decoded at most: with an interlaced PNG all of them lie in memory at once. */
const MAX_PIXELS = 25_000_000;
const DECODE_SECONDS = 5;

type Format = 'png' | 'jpeg';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const PNG_END = Buffer.from('49454e44ae426082', 'hex');
const JPEG_START = Buffer.from('ffd8ff', 'hex');
const JPEG_END = Buffer.from('ffd9', 'hex');
// What a browser or a server could take the file for, were it ever served as it came.
const MARKUP = /<(?:script|!doctype|iframe|\?php\s)/i;

/** The format of an image by its first bytes, whatever a header says. */
export function formatOf(bytes: Buffer): Format | null {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'png';
  return bytes.subarray(0, JPEG_START.length).equals(JPEG_START) ? 'jpeg' : null;
}

/**
 * Makes an icon of a file that a stranger sent: upright, at most 512 pixels wide and high, without metadata, encoded anew, so
 * that nothing of the file but its picture is kept.
 * @throws Fault bad_icon for anything but one whole JPEG or PNG image of a bearable size
 */
export async function makeIcon(bytes: Buffer): Promise<Buffer> {
  const format = formatOf(bytes);
  if (!format) throw new Fault('bad_icon');
  const end = format === 'png' ? PNG_END : JPEG_END;
  const whole = bytes.subarray(-end.length).equals(end) && !MARKUP.test(bytes.toString('latin1'));
  if (!whole) throw new Fault('bad_icon', { message: 'This file is damaged, or holds more than an image. Save it as a JPG or PNG again.' });

  const sharp = await loadSharp();
  const image = sharp(bytes, { failOn: 'error', limitInputPixels: MAX_PIXELS, sequentialRead: true, pages: 1 });
  const { width, height, ...metadata } = await image.metadata().catch(refuse);
  if (metadata.format !== format) throw new Fault('bad_icon');
  if (width * height > MAX_PIXELS) throw tooManyPixels();
  return image
    .autoOrient()
    .resize({ width: SIDE, height: SIDE, fit: 'inside', withoutEnlargement: true })
    .toFormat(format, format === 'png' ? { compressionLevel: 9 } : { quality: 88 })
    .timeout({ seconds: DECODE_SECONDS })
    .toBuffer()
    .catch(refuse);
}

let loading: Promise<typeof import('sharp').default> | undefined;

/** Loaded with the first icon: a service that gets none spends neither time nor memory on it. */
function loadSharp() {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.concurrency(1);
    sharp.cache(false);
    // libvips knows many formats, SVG among them; these two loaders are all that may ever run.
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
