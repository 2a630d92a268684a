import type { NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { splitRaw } from './listed-names.ts';

export interface RawEntry {
  readonly raw: Uint8Array;
  readonly isDirectory: boolean;
  /** A directory that the guard closes. */
  readonly closed: boolean;
}

const pageEntries = 10_000;
const directoryType = 1;

/** All entries of one directory, hidden ones included, page by page. @throws errno of the listing */
export async function* entriesOf(held: HeldRoot, directory: NativePath): AsyncGenerator<RawEntry> {
  let after: Uint8Array | undefined;
  for (;;) {
    const page = { rootPath: held.path, limit: pageEntries, ...(after === undefined ? {} : { after }) };
    const { names, types, closed, more } = await held.directory.list(directory, page, held.guard);
    for (const [index, raw] of splitRaw(names).entries()) {
      after = raw;
      yield { raw, isDirectory: types[index] === directoryType, closed: closed[index] === 1 };
    }
    if (!more || after === undefined) return;
  }
}
