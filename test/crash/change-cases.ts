import { versionOf } from '../../src/files/content-version.ts';
import type { Change } from '../support/change-process.ts';

/** Written in one piece, and no part of the one is the other. */
export const oldText: string = `old content\n${'o'.repeat(5000)}`;
export const newText: string = `new content\n${'n'.repeat(7000)}`;
export const foreignText: string = `foreign content\n${'f'.repeat(3000)}`;

export interface ChangeCase {
  readonly operation: Change['operation'];
  readonly change: Omit<Change, 'root' | 'fault'>;
  /** The content of `f` before and after; null: none. */
  readonly before: string | null;
  readonly after: string | null;
}

const base = { sha1: versionOf(Buffer.from(oldText)).sha1 };

export const changeCases: readonly ChangeCase[] = [
  {
    operation: 'replace',
    change: { operation: 'replace', path: 'f', content: newText, base },
    before: oldText,
    after: newText,
  },
  {
    operation: 'create',
    change: { operation: 'create', path: 'f', content: newText },
    before: null,
    after: newText,
  },
  {
    operation: 'remove',
    change: { operation: 'remove', path: 'f', base },
    before: oldText,
    after: null,
  },
];
