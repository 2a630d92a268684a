import { describe, expect, it } from 'vitest';
import type { DirectoryHandle } from '../../src/native/binding.ts';
import { testBinding } from '../support/test-binding.ts';
import { bytesOf, casesOf, crossesMounts, followsLinks, type PathCase, pathCases } from './path-case.ts';
import { insideContent, isPossible, outsideContent, PathCaseLab } from './path-case-lab.ts';

const isRoot = process.getuid?.() === 0;
const limit = 1024;

/** Where the addon answers another thing than the kernel did under the row's flags, and why. */
const differences: Readonly<Record<string, { readonly expect: string; readonly why: string }>> = {
  'sym-rel-final-nofollow': { expect: 'ok', why: 'links are read, so the last one can be followed too' },
  'sym-abs-inside': { expect: 'ok', why: 'an absolute target below the root is walked from the root' },
  'sym-loop-nofollow': { expect: 'ELOOP', why: 'a link is never held as one: it is read until 40' },
  'magic-root-component': { expect: 'EXDEV', why: 'a magic link leads nowhere that a path can name' },
  'magic-fd': { expect: 'EXDEV', why: 'as above' },
  'magic-nofollow': { expect: 'EXDEV', why: 'as above' },
  'fifo-open-rdonly': { expect: 'WA_NOT_REGULAR', why: 'refused by its type, without being opened' },
  'chardev-null': { expect: 'WA_NOT_REGULAR', why: 'as above' },
  'socket-open': { expect: 'WA_NOT_REGULAR', why: 'as above' },
  'dot-write': { expect: 'EINVAL', why: 'no file has this path' },
};

/** Rows about flags of openat2 that the addon never passes, or about calls that the kernel rows make through it already. */
const rawOnly = new Set(['create', 'create-noexcl', 'write', 'open-badflags', 'exchange', 'noreplace']);

/** The grammar of NativePath, in other words than the addon's: what is refused before any system call. */
function isRefusedByGrammar(path: Buffer): boolean {
  const parts = path.toString('latin1').split('/');
  return (
    path.toString('latin1') !== '.' && parts.some((part) => part === '' || part === '.' || part === '..')
  );
}

function expectationOf(row: PathCase, path: Buffer): string {
  if (path.length > 4095) return 'ENAMETOOLONG';
  if (isRefusedByGrammar(path)) return 'EINVAL';
  return differences[row.id]?.expect ?? row.expect;
}

/** Reads as the files room does: without links, and where one is met, the canonical path that it leads to. */
async function readContent(
  directory: DirectoryHandle,
  root: string,
  path: Buffer,
  follow: boolean,
): Promise<string> {
  const read = async (from: Uint8Array) => {
    const facts = new BigInt64Array(9);
    const cached = directory.readCached(from, limit, facts, null);
    const waited = await directory.read(from, limit, facts, null);
    if (cached !== undefined) expect(Buffer.from(cached)).toEqual(Buffer.from(waited));
    return Buffer.from(waited).toString();
  };
  try {
    return await read(path);
  } catch (error) {
    if (!follow || (error as { code: string }).code !== 'ELOOP') throw error;
  }
  return read(await directory.resolveLinks(path, root));
}

async function outcomeOf(
  row: PathCase,
  lab: PathCaseLab,
  path: Buffer,
): Promise<{ code: string; content?: string }> {
  const directory = await testBinding.openRoot(lab.root, { allowMounts: crossesMounts(row.request) });
  try {
    lab.disturb(row);
    if (row.type === 'dir') {
      (await directory.openDirectory(path)).close();
      return { code: 'ok' };
    }
    return { code: 'ok', content: await readContent(directory, lab.root, path, followsLinks(row.request)) };
  } catch (error) {
    return { code: (error as { code: string }).code };
  } finally {
    directory.close();
  }
}

const applicable = casesOf('kernel').filter(
  ({ request, asUid }) => !rawOnly.has(request.op) && request.mode === undefined && asUid === undefined,
);

describe('path cases through the addon', () => {
  it.for(applicable)('R10 R11: $id: $note', async (row, { skip }) => {
    if (!isPossible(row, isRoot)) skip('needs root');
    const lab = new PathCaseLab();
    await lab.setUp(row);
    const path = bytesOf(lab.text(row.request.path));
    const outcome = await outcomeOf(row, lab, path);

    expect(outcome.code).toBe(expectationOf(row, path));
    if (outcome.content !== undefined) {
      const content = row.setup.some(({ op }) => op === 'hardlink-out') ? outsideContent : insideContent;
      expect(outcome.content).toBe(content);
    }
  });

  it.for(casesOf('addon'))('R10: $id: $note', async (row) => {
    const lab = new PathCaseLab();
    await lab.setUp(row);
    const directory = await testBinding.openRoot(lab.root, {});
    const facts = new BigInt64Array(9);
    const { path } = row.request;
    // A string, as it comes: these rows are about what a string becomes on its way to the kernel.
    expect(() => directory.readCached(path, limit, facts, null)).toThrow(
      expect.objectContaining({ code: 'EINVAL', errno: -22 }),
    );
    for (const call of [
      directory.read(path, limit, facts, null),
      directory.openFile(path, null),
      directory.openDirectory(path),
      directory.stat(path, null),
      directory.list(path, { rootPath: lab.root, limit: 1 }, null),
      directory.resolveLinks(path, lab.root),
      testBinding.openRoot(`${lab.root}/${path}`, {}),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'EINVAL' });
    }
    directory.close();
  });

  it('every row of the table has a layer that is shown here or in another room', () => {
    const elsewhere = new Set(['product', 'special']);
    const left = pathCases.filter(
      ({ layer }) => layer !== 'kernel' && layer !== 'addon' && !elsewhere.has(layer),
    );
    expect(left).toEqual([]);
    expect(Object.keys(differences).filter((id) => !pathCases.some((row) => row.id === id))).toEqual([]);
  });
});
