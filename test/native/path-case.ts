import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One row of test/cases/path-cases.json. */
export interface PathCase {
  readonly id: string;
  readonly setup: readonly SetUp[];
  readonly request: PathRequest;
  readonly expect: string;
  readonly layer: 'kernel' | 'addon' | 'product' | 'special';
  readonly type?: 'file' | 'dir' | 'symlink';
  readonly nlink?: number;
  readonly asUid?: number;
  readonly note: string;
}

export interface SetUp {
  readonly op: string;
  readonly path: string;
  readonly target?: string;
}

export interface PathRequest {
  readonly op: string;
  /** `hex:` before the bytes of a name that is no UTF-8; `$ROOT` for the absolute path of the root. */
  readonly path: string;
  readonly policy: keyof typeof policies;
  readonly with?: string;
  /** Octal. */
  readonly mode?: string;
}

const resolve = { noXdev: 0x01, noMagicLinks: 0x02, noSymlinks: 0x04, beneath: 0x08 } as const;

/** Flags of openat2(2) by the letters of the table: beneath, no symbolic links, no crossing of mounts. */
export const policies = {
  'BENEATH-only': resolve.beneath,
  B: resolve.beneath | resolve.noMagicLinks,
  BS: resolve.beneath | resolve.noMagicLinks | resolve.noSymlinks,
  BX: resolve.beneath | resolve.noMagicLinks | resolve.noXdev,
  BSX: resolve.beneath | resolve.noMagicLinks | resolve.noSymlinks | resolve.noXdev,
} as const;

/** Whether the addon follows links for a row: it does so by reading them, where the row lets the kernel follow. */
export function followsLinks({ policy }: PathRequest): boolean {
  return (policies[policy] & resolve.noSymlinks) === 0;
}

export function crossesMounts({ policy }: PathRequest): boolean {
  return (policies[policy] & resolve.noXdev) === 0;
}

export function bytesOf(text: string): Buffer {
  return text.startsWith('hex:') ? Buffer.from(text.slice(4), 'hex') : Buffer.from(text);
}

export const pathCases: readonly PathCase[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../cases/path-cases.json'), 'utf8'),
);

export function casesOf(layer: PathCase['layer']): readonly PathCase[] {
  return pathCases.filter((row) => row.layer === layer);
}
