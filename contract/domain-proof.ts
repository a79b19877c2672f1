/** Longest TXT text that is read as a proof, in characters. A proof has 32; a TXT record can have 64 KB. */
const MAX_TEXT_LENGTH = 256;

/**
 * Whether one of the TXT texts of a name is the proof of its domain. White space and quotes around it are ignored, since some
 * DNS panels store the quotes of the zone file as part of the text.
 * @param value the expected proof, which holds neither
 */
export function hasProofText(texts: readonly string[], value: string): boolean {
  return texts.some((text) => text.length <= MAX_TEXT_LENGTH && text.replaceAll('"', ' ').trim() === value);
}
