/** Bytes from `start` up to but without `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a Range header (RFC 9110, 14.1.2). Null: there is nothing to honour, because the unit is another, several ranges are asked
 * for or the text is no range; a server may answer all of these with the whole. A suffix longer than the file means the whole
 * file, in part form; one range that holds no byte of the file is `unsatisfiable`.
 */
export function parseByteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header.trim()) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
