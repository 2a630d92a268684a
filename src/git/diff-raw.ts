/** What happened to one path between two sides, as `--raw` tells it (git-diff(1), "Raw output format"). */
export type RawStatus = 'A' | 'C' | 'D' | 'M' | 'R' | 'T' | 'U';

/** One record. Paths are Latin-1, so that they stand for exactly Git's bytes. */
export interface RawRecord {
  readonly status: RawStatus;
  /** Six octal digits; null where this side has nothing. */
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly path: string;
  /** Only of renames and copies. */
  readonly oldPath: string | null;
}

const facts =
  /^:([0-7]{6}) ([0-7]{6}) (?:[0-9a-f]{40} [0-9a-f]{40}|[0-9a-f]{64} [0-9a-f]{64}) (?:([ADTUM])|([CR])[0-9]{1,3})$/;

/**
 * Reads `--raw -z --no-abbrev` records, each field of which ends with NUL; no byte of a path can end a record. Null when the output has
 * another form.
 */
export function parseRawRecords(output: Uint8Array): readonly RawRecord[] | null {
  const fields = Buffer.from(output.buffer, output.byteOffset, output.byteLength)
    .toString('latin1')
    .split('\0');
  if (fields.pop() !== '') return null;
  const records: RawRecord[] = [];
  for (let index = 0; index < fields.length; ) {
    const [, oldMode = '', newMode = '', plain, paired] = facts.exec(fields[index] ?? '') ?? [];
    const status = plain ?? paired;
    const width = paired === undefined ? 2 : 3;
    const paths = fields.slice(index + 1, index + width);
    if (status === undefined || paths.length !== width - 1 || paths.includes('')) return null;
    records.push({
      status: status as RawStatus,
      oldMode: modeOf(oldMode),
      newMode: modeOf(newMode),
      path: paths.at(-1) as string,
      oldPath: paired === undefined ? null : (paths[0] as string),
    });
    index += width;
  }
  return records;
}

function modeOf(digits: string): string | null {
  return digits === '000000' ? null : digits;
}
