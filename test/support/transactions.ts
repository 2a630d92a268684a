import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TransactionCall } from './transaction-process.ts';

/** Long enough to be written in one piece and to be told from any part of itself. */
export const oldText: string = `old content\n${'o'.repeat(5000)}`;
export const newText: string = `new content\n${'n'.repeat(7000)}`;

/** A write transaction on a room that `plant` has prepared, and what the room may hold before and after it. */
export interface TransactionCase {
  readonly title: string;
  plant(root: string): void;
  call(root: string): Omit<TransactionCall, 'fault'>;
  /** Entries of the room, names of transactions left out: a path and its text, or '/' for a directory. */
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

const temporaryName = '.wa-transaction.tmp';

function baseOf(path: string) {
  const { ino, dev } = statSync(path, { bigint: true });
  return { baseBytes: readFileSync(path), baseInode: ino, baseDevice: dev };
}

function plantFile(root: string): void {
  mkdirSync(join(root, 'd'));
  writeFileSync(join(root, 'd/f'), oldText);
}

export const transactionCases: readonly TransactionCase[] = [
  {
    title: 'replace',
    plant: plantFile,
    call: (root) => {
      const change = { bytes: Buffer.from(newText), ...baseOf(join(root, 'd/f')), temporaryName };
      return { root, method: 'replace', words: ['d/f', change], guarded: true };
    },
    before: { d: '/', 'd/f': oldText },
    after: { d: '/', 'd/f': newText },
  },
  {
    title: 'create',
    plant: (root) => mkdirSync(join(root, 'd')),
    call: (root) => {
      const change = { bytes: Buffer.from(newText), mode: 0o644, temporaryName };
      return { root, method: 'create', words: ['d/f', change], guarded: true };
    },
    before: { d: '/' },
    after: { d: '/', 'd/f': newText },
  },
  {
    title: 'remove',
    plant: plantFile,
    call: (root) => {
      const change = { ...baseOf(join(root, 'd/f')), temporaryName };
      return { root, method: 'remove', words: ['d/f', change], guarded: true };
    },
    before: { d: '/', 'd/f': oldText },
    after: { d: '/' },
  },
  {
    title: 'renameNoReplace',
    plant: (root) => {
      plantFile(root);
      mkdirSync(join(root, 'e'));
    },
    call: (root) => ({ root, method: 'renameNoReplace', words: ['d/f', 'e/g'], guarded: true }),
    before: { d: '/', 'd/f': oldText, e: '/' },
    after: { d: '/', e: '/', 'e/g': oldText },
  },
  {
    title: 'makeDirectory',
    plant: plantFile,
    call: (root) => ({ root, method: 'makeDirectory', words: ['d/new', 0o755], guarded: true }),
    before: { d: '/', 'd/f': oldText },
    after: { d: '/', 'd/f': oldText, 'd/new': '/' },
  },
  {
    title: 'removeDirectory',
    plant: (root) => {
      plantFile(root);
      mkdirSync(join(root, 'd/empty'));
    },
    call: (root) => ({ root, method: 'removeDirectory', words: ['d/empty'], guarded: true }),
    before: { d: '/', 'd/empty': '/', 'd/f': oldText },
    after: { d: '/', 'd/f': oldText },
  },
  {
    title: 'unlinkIfSame',
    plant: plantFile,
    call: (root) => {
      const { baseInode, baseDevice } = baseOf(join(root, 'd/f'));
      return { root, method: 'unlinkIfSame', words: ['d/f', baseInode, baseDevice] };
    },
    before: { d: '/', 'd/f': oldText },
    after: { d: '/' },
  },
  {
    title: 'exchange',
    plant: (root) => {
      plantFile(root);
      writeFileSync(join(root, 'd/g'), newText);
    },
    call: (root) => ({ root, method: 'exchange', words: ['d/f', 'g'] }),
    before: { d: '/', 'd/f': oldText, 'd/g': newText },
    after: { d: '/', 'd/f': newText, 'd/g': oldText },
  },
];
