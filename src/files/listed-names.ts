import { isUtf8 } from 'node:buffer';

const nul = 0;

/** The names of one listing. Undecodable ones have U+FFFD in `decoded` and are told apart by `isUndecodable`. */
export interface ListedNames {
  readonly decoded: readonly string[];
  /** Raw bytes of the last name, or null when there is none. */
  readonly last: Uint8Array | null;
  isUndecodable(index: number): boolean;
}

/** `names`: each followed by a NUL. Nearly all directories hold only valid UTF-8, and are decoded in one step. */
export function readNames(names: Uint8Array): ListedNames {
  const bytes = Buffer.from(names.buffer, names.byteOffset, names.byteLength);
  const decoded = bytes.toString('utf8').split('\0');
  decoded.pop();
  return { decoded, last: lastOf(bytes), isUndecodable: undecodableIn(bytes) };
}

/** The raw names, for walks that must reach undecodable directories. */
export function splitRaw(names: Uint8Array): Uint8Array[] {
  const raw: Uint8Array[] = [];
  for (let start = 0; start < names.length; ) {
    const end = names.indexOf(nul, start);
    raw.push(names.subarray(start, end));
    start = end + 1;
  }
  return raw;
}

function lastOf(bytes: Buffer): Uint8Array | null {
  if (bytes.length === 0) return null;
  const before = bytes.length < 2 ? -1 : bytes.lastIndexOf(nul, bytes.length - 2);
  return Uint8Array.from(bytes.subarray(before + 1, bytes.length - 1));
}

function undecodableIn(bytes: Buffer): (index: number) => boolean {
  if (isUtf8(bytes)) return () => false;
  const valid = splitRaw(bytes).map((name) => isUtf8(name));
  return (index) => valid[index] === false;
}
