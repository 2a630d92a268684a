import { execFileSync } from 'node:child_process';
import { copyFileSync, constants as fs, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DirectoryHandle } from '../../src/native/binding.ts';
import { testAddonPath, testBinding } from '../support/test-binding.ts';
import { bytesOf, casesOf, type PathCase, type PathRequest, policies } from './path-case.ts';
import { insideContent, isPossible, outsideContent, PathCaseLab } from './path-case-lab.ts';

const isRoot = process.getuid?.() === 0;
const pathOnly = 0o10000000; // O_PATH

/** Flags of each operation of the table. O_NONBLOCK everywhere, so that a FIFO cannot hold the test. */
const flagsOf: Readonly<Record<string, number>> = {
  read: fs.O_RDONLY | fs.O_NONBLOCK | fs.O_NOFOLLOW,
  open: fs.O_RDONLY | fs.O_NONBLOCK,
  write: fs.O_WRONLY | fs.O_NONBLOCK | fs.O_NOFOLLOW,
  openlink: pathOnly | fs.O_NOFOLLOW,
  'open-badflags': pathOnly | fs.O_NOCTTY | fs.O_NONBLOCK,
  create: fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL,
  'create-noexcl': fs.O_WRONLY | fs.O_CREAT,
};

const modes = { file: fs.S_IFREG, dir: fs.S_IFDIR, symlink: fs.S_IFLNK } as const;

interface Outcome {
  readonly code: string;
  readonly mode?: number;
  readonly linkCount?: number;
  readonly head?: string | null;
}

function modeOf({ op, mode }: PathRequest): number {
  if (mode !== undefined) return Number.parseInt(mode, 8);
  return op.startsWith('create') ? 0o644 : 0;
}

function rawOutcome(directory: DirectoryHandle, request: PathRequest, path: Buffer): Outcome {
  const flags = flagsOf[request.op] as number;
  try {
    const result = testBinding.rawOpenat2(directory, path, flags, modeOf(request), policies[request.policy]);
    return { code: 'ok', ...result, head: result.head === null ? null : Buffer.from(result.head).toString() };
  } catch (error) {
    return { code: (error as { code: string }).code };
  }
}

/** Two rows of renameat2(2) ask for names in one directory; the product's own calls pass the kernel's answer on. */
async function renameOutcome(
  directory: DirectoryHandle,
  { op, path, with: other }: PathRequest,
): Promise<Outcome> {
  try {
    if (op === 'exchange') await directory.exchange(path, other as string);
    else await directory.renameNoReplace(path, other as string, null);
    return { code: 'ok' };
  } catch (error) {
    return { code: (error as { code: string }).code };
  }
}

/** The addon and the program are copied to where the other user may read them. */
function outcomeAsUser(lab: PathCaseLab, row: PathCase, path: Buffer): Outcome {
  const program = join(lab.top, 'path-request.mjs');
  const addon = join(lab.top, basename(testAddonPath));
  copyFileSync(join(import.meta.dirname, 'path-request.mjs'), program);
  copyFileSync(testAddonPath, addon);
  const { request } = row;
  const numbers = [flagsOf[request.op], modeOf(request), policies[request.policy]].map(String);
  const user = ['--reuid', String(row.asUid), '--regid', String(row.asUid), '--clear-groups'];
  const call = [program, addon, lab.root, path.toString('base64'), ...numbers];
  return JSON.parse(execFileSync('setpriv', [...user, process.execPath, ...call], { encoding: 'utf8' }));
}

async function outcomeOf(row: PathCase, lab: PathCaseLab): Promise<Outcome> {
  const path = bytesOf(lab.text(row.request.path));
  if (row.asUid !== undefined) return outcomeAsUser(lab, row, path);
  const directory = await testBinding.openRoot(lab.root, {});
  try {
    lab.disturb(row);
    if (row.request.with !== undefined) return await renameOutcome(directory, row.request);
    return rawOutcome(directory, row.request, path);
  } finally {
    directory.close();
  }
}

describe('path cases of the kernel', () => {
  it.for(casesOf('kernel'))('R11: $id: $note', async (row, { skip }) => {
    if (!isPossible(row, isRoot)) skip('needs root');
    const lab = new PathCaseLab();
    await lab.setUp(row);
    const outcome = await outcomeOf(row, lab);

    if (row.expect === 'not-regular') {
      expect(outcome.code).toBe('ok');
      expect((outcome.mode as number) & fs.S_IFMT).not.toBe(fs.S_IFREG);
      return;
    }
    expect(outcome.code).toBe(row.expect);
    if (row.type !== undefined) expect((outcome.mode as number) & fs.S_IFMT).toBe(modes[row.type]);
    if (row.nlink !== undefined) expect(outcome.linkCount).toBe(row.nlink);
    if (row.expect === 'ok' && row.request.op === 'read') {
      // No resolve flag sees a hard link: that row reads what lies outside, and says so by its link count.
      const content = row.setup.some(({ op }) => op === 'hardlink-out') ? outsideContent : insideContent;
      expect(outcome.head).toBe(content);
    }
  });

  it('R11: an exchange moves a link out as a link, and never follows it', async () => {
    const lab = new PathCaseLab();
    const row = casesOf('kernel').find(({ id }) => id === 'exchange-link') as PathCase;
    await lab.setUp(row);
    const directory = await testBinding.openRoot(lab.root, {});
    await directory.exchange('a', 'b');
    expect([(await directory.stat('a', null)).type, readFileSync(join(lab.root, 'b'), 'utf8')]).toEqual([
      'symlink',
      insideContent,
    ]);
    expect(readFileSync(join(lab.root, 'x'), 'utf8')).toBe(insideContent);
    directory.close();
  });
});
