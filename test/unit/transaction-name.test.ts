import { describe, expect, it } from 'vitest';
import { currentProcess } from '../../src/capability/process-owner.ts';
import {
  contentDigest,
  isKeptName,
  isReservedName,
  isTarget,
  keptName,
  parseTransactionName,
  type TransactionContent,
  Transactions,
} from '../../src/capability/transaction-name.ts';

const base = contentDigest(Buffer.from('base'));
const next = contentDigest(Buffer.from('next'));
const empty = contentDigest(Buffer.alloc(0));

function nameFor(target: string, content: TransactionContent = { base, next }): Promise<string> {
  return new Transactions().run(target, content, async (name) => name);
}

const targets = [
  'f',
  'a.b.c',
  '=x',
  '~0123456789abcdef',
  '.tmp',
  '.wa-x.tmp',
  'ü 日本\n',
  '\\',
  'n'.repeat(127),
];

describe('names of temporary files', () => {
  it.each(targets)('R15: tell who made them, from what and for which target: %j', async (target) => {
    const name = await nameFor(target);
    const parsed = parseTransactionName(name);
    expect(parsed).toMatchObject({
      base,
      next,
      owner: currentProcess(),
      target: { name: target },
    });
    expect(isReservedName(name)).toBe(true);
  });

  it.each([['n'.repeat(255)], ['é'.repeat(127)], ['日'.repeat(85)]])(
    'fit the limits of the system for the longest target, and recognise it: %#',
    async (target) => {
      const name = await nameFor(target);
      const parsed = parseTransactionName(name);
      expect(Buffer.byteLength(keptName(name, 63))).toBeLessThanOrEqual(255);
      expect(parsed !== null && isTarget(parsed.target, target)).toBe(true);
      expect(parsed !== null && isTarget(parsed.target, `${target.slice(1)}x`)).toBe(false);
    },
  );

  it.each([
    [{ base: null, next }, null, next],
    [{ base, next: null }, base, null],
    [{ base: empty, next: empty }, empty, empty],
  ])('tell creation, removal and replacement apart: %#', async (content, wantedBase, wantedNext) => {
    expect(parseTransactionName(await nameFor('f', content))).toMatchObject({
      base: wantedBase,
      next: wantedNext,
    });
  });

  it('are different each time', async () => {
    const names = new Set(await Promise.all(Array.from({ length: 100 }, () => nameFor('f'))));
    expect(names.size).toBe(100);
  });

  it('are reserved in any case spelling, as a file system may fold case', async () => {
    const name = await nameFor('f');
    expect(isReservedName(name.toUpperCase())).toBe(true);
    expect(parseTransactionName(name.toUpperCase())).toBeNull();
  });

  it.each([
    '.wa-',
    '.wa-x.tmp',
    'wa-0123.tmp',
    '.wa-0123456789abcdef.tmp',
    '.watch.tmp',
    'f.tmp',
    '.wa-probe-',
    '',
  ])('are no names that people use: %j', (name) => {
    expect(isReservedName(name)).toBe(false);
  });

  it('become visible names when something is kept', async () => {
    const name = await nameFor('report.txt');
    for (const kept of [keptName(name, 0), keptName(name, 1)]) {
      expect(isKeptName(kept)).toBe(true);
      expect(isReservedName(kept)).toBe(false);
      expect(kept).toContain('report.txt');
    }
    expect(keptName(name, 0)).not.toBe(keptName(name, 1));
  });

  it.each([
    ['another version', (name: string) => name.replace('.wa-', '.wb-')],
    ['a digest cut short', (name: string) => name.replace(/\.[0-9a-f]{16}\./, '.0123.')],
    ['no target', (name: string) => name.replace('=f', '')],
    ['an empty target', (name: string) => name.replace('=f', '=')],
    ['another ending', (name: string) => name.replace(/tmp$/, 'tmq')],
    ['something before', (name: string) => `x${name}`],
  ])('are read as nothing when they have %s', async (_, change) => {
    expect(parseTransactionName(change(await nameFor('f')))).toBeNull();
  });
});

describe('transactions of one instance', () => {
  it('are active while they run, and not after, also when they fail', async () => {
    const transactions = new Transactions();
    const seen: (boolean | undefined)[] = [];
    const look = async (name: string) => {
      const parsed = parseTransactionName(name);
      if (parsed === null) throw new Error('unreadable name');
      seen.push(transactions.isActive(parsed), new Transactions().isActive(parsed));
      return parsed;
    };
    const parsed = await transactions.run('f', { base, next }, look);
    seen.push(transactions.isActive(parsed));
    await expect(
      transactions.run('f', { base, next }, async (name) => {
        await look(name);
        throw new Error('failed');
      }),
    ).rejects.toThrow('failed');
    expect(seen).toEqual([true, undefined, false, true, undefined]);
  });
});
