/**
 * Bytes that would make a prover's printed answer ambiguous: control characters, a space at the end, and U+FFFD, which is also what
 * an undecodable byte becomes on its way through a prover.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const ambiguous = /[\x00-\x1f\x7f\ufffd]| $/;

/** Whether a path means the same to every program that prints or reads it. */
export function isClearPath(path: string): boolean {
  return !ambiguous.test(path);
}

/** The text of a path in a file of Git; null where it is not UTF-8 or not clear. Byte for byte: no two byte strings give one text. */
export function decodeClearPath(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return isClearPath(text) ? text : null;
  } catch {
    return null;
  }
}
