import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory, gone at the end of the block. */
export function temporaryDirectory(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'wa-transaction-')));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface RoomContents {
  /** Path to text, '/' for a directory, '-> target' for a link; without the names of transactions. */
  readonly entries: Readonly<Record<string, string>>;
  /** Names of transactions (their paths) to text. */
  readonly leftovers: Readonly<Record<string, string>>;
}

export function contentsOf(root: string): RoomContents {
  const entries: Record<string, string> = {};
  const leftovers: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const text = entry.isDirectory() ? '/' : textOf(path, entry.isSymbolicLink());
    const into = entry.name.startsWith('.wa-') ? leftovers : entries;
    into[path.slice(root.length + 1)] = text;
  }
  return { entries, leftovers };
}

function textOf(path: string, isLink: boolean): string {
  return isLink ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8');
}
