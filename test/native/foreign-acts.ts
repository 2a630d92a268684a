import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { contentsOf } from '../support/room-contents.ts';
import type { TransactionAnswer } from '../support/transaction-process.ts';
import { newText, oldText } from '../support/transactions.ts';

/** What somebody else may do to the file of a transaction, or to its parent, while the transaction runs. */
export interface ForeignAct {
  readonly title: string;
  /** Acts on `base/root/d/f`; what it returns is called when the transaction has ended. */
  act(base: string): (() => void | Promise<void>) | undefined | Promise<() => Promise<void>>;
  /** Checks what must hold whenever it acted. */
  check(base: string, answer: TransactionAnswer): void;
  /** How the transactions end, over all moments: outcomes and codes, `+kept` where something is left and said. */
  readonly replace: readonly string[];
  readonly remove: readonly string[];
}

const foreign = 'foreign content';
const target = 'root/d/f';

/** All texts of files below the base. */
function textsIn(base: string): string[] {
  const { entries, leftovers } = contentsOf(base);
  return [...Object.values(entries), ...Object.values(leftovers)];
}

/** Opens for writing without waiting for a lease to end; undefined while somebody holds one. */
function openForWriting(path: string, flags = 0): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'ENOENT') return undefined;
    throw error;
  }
}

export const foreignActs: readonly ForeignAct[] = [
  {
    title: 'a rename over the name: its content stands, whoever was first',
    act: (base) => {
      writeFileSync(join(base, 'root/d/.next'), foreign);
      renameSync(join(base, 'root/d/.next'), join(base, target));
      return undefined;
    },
    check: (base) => expect(readFileSync(join(base, target), 'utf8')).toBe(foreign),
    replace: ['conflict', 'committed'],
    remove: ['conflict', 'removed'],
  },
  {
    title: 'a write in place: what was written is somewhere',
    act: (base) => {
      const fd = openForWriting(join(base, target), constants.O_TRUNC);
      if (fd === undefined) return undefined;
      writeSync(fd, foreign);
      closeSync(fd);
      writeFileSync(join(base, 'written'), '');
      return undefined;
    },
    check: (base) => {
      const written = textsIn(base).includes('');
      if (written) expect(textsIn(base)).toContain(foreign);
    },
    replace: ['conflict', 'committed+kept', 'committed'],
    remove: ['conflict', 'WA_WRITER_OPEN', 'removed'],
  },
  {
    title: 'a writer that opens now and writes when all is over: what it wrote is somewhere',
    act: (base) => {
      const fd = openForWriting(join(base, target), constants.O_APPEND);
      if (fd === undefined) return undefined;
      return () => {
        writeSync(fd, foreign);
        closeSync(fd);
        expect(textsIn(base).some((text) => text.endsWith(foreign))).toBe(true);
      };
    },
    check: () => undefined,
    replace: ['WA_WRITER_OPEN', 'committed+kept', 'committed'],
    remove: ['WA_WRITER_OPEN', 'removed'],
  },
  {
    title: 'a program that waits for the file and then appends: what it wrote is somewhere',
    act: async (base) => {
      const script = 'printf %s "$1" >> "$2"';
      const program = spawn('sh', ['-c', script, 'sh', foreign, join(base, target)], { stdio: 'ignore' });
      const ended = once(program, 'exit');
      await waitUntil(() => program.exitCode !== null || sleepsInOpen(program.pid));
      return async () => {
        await ended;
        expect(textsIn(base).some((text) => text.endsWith(foreign))).toBe(true);
      };
    },
    check: () => undefined,
    replace: ['conflict', 'committed+kept', 'committed'],
    remove: ['conflict', 'WA_WRITER_OPEN', 'removed'],
  },
  {
    title: 'a deletion: the name stays gone',
    act: (base) => {
      rmSync(join(base, target), { force: true });
      return undefined;
    },
    check: (base) => expect(contentsOf(join(base, 'root')).entries).toEqual({ d: '/' }),
    replace: ['conflict', 'committed'],
    remove: ['conflict', 'removed'],
  },
  {
    title: 'a directory that takes the name: it keeps it',
    act: (base) => {
      rmSync(join(base, target), { force: true });
      mkdirSync(join(base, target));
      return undefined;
    },
    check: (base) => expect(statSync(join(base, target)).isDirectory()).toBe(true),
    replace: ['WA_NOT_REGULAR', 'conflict', 'committed'],
    remove: ['WA_NOT_REGULAR', 'conflict', 'removed'],
  },
  {
    title: 'a link to outside that takes the name: it keeps it, and outside is untouched',
    act: (base) => {
      writeFileSync(join(base, 'outside'), oldText);
      rmSync(join(base, target), { force: true });
      symlinkSync('../../outside', join(base, target));
      return undefined;
    },
    check: (base) => {
      expect(readFileSync(join(base, target), 'utf8')).toBe(oldText);
      expect(readFileSync(join(base, 'outside'), 'utf8')).toBe(oldText);
    },
    replace: ['ELOOP', 'conflict', 'committed'],
    remove: ['ELOOP', 'conflict', 'removed'],
  },
  {
    title: 'the parent moves out of the root: nothing is changed there, unless all was done before',
    act: (base) => {
      renameSync(join(base, 'root/d'), join(base, 'elsewhere'));
      return undefined;
    },
    check: (base, { error, outcome }) => {
      const { entries, leftovers } = contentsOf(join(base, 'elsewhere'));
      expect(leftovers).toEqual({});
      if (error !== undefined) {
        expect(['WA_PARENT_MOVED', 'ENOENT']).toContain(error.code);
        expect(entries).toEqual({ f: oldText });
      } else if (outcome?.outcome === 'committed') expect(entries).toEqual({ f: newText });
      else expect(entries).toEqual({});
    },
    replace: ['ENOENT', 'WA_PARENT_MOVED', 'committed'],
    remove: ['ENOENT', 'WA_PARENT_MOVED', 'removed'],
  },
  {
    title: 'another directory takes the place of the parent: nothing in it is changed',
    act: (base) => {
      mkdirSync(join(base, 'root/other'));
      writeFileSync(join(base, 'root/other/f'), oldText);
      renameSync(join(base, 'root/d'), join(base, 'elsewhere'));
      renameSync(join(base, 'root/other'), join(base, 'root/d'));
      return undefined;
    },
    check: (base) =>
      expect(contentsOf(join(base, 'root'))).toEqual({ entries: { d: '/', 'd/f': oldText }, leftovers: {} }),
    replace: ['conflict', 'WA_PARENT_MOVED', 'committed'],
    remove: ['conflict', 'WA_PARENT_MOVED', 'removed'],
  },
  {
    title: 'the parent is replaced by a link to outside: nothing there is changed',
    act: (base) => {
      mkdirSync(join(base, 'outside'));
      writeFileSync(join(base, 'outside/f'), oldText);
      renameSync(join(base, 'root/d'), join(base, 'root/e'));
      symlinkSync('../outside', join(base, 'root/d'));
      return undefined;
    },
    check: (base) =>
      expect(contentsOf(join(base, 'outside'))).toEqual({ entries: { f: oldText }, leftovers: {} }),
    replace: ['ELOOP', 'WA_PARENT_MOVED', 'committed'],
    remove: ['ELOOP', 'WA_PARENT_MOVED', 'removed'],
  },
  {
    title: 'a change of mode: the file under the name has it',
    act: (base) => {
      if (contentsOf(base).entries[target] !== undefined) chmodSync(join(base, target), 0o601);
      return undefined;
    },
    check: (base) => {
      if (contentsOf(base).entries[target] !== undefined) {
        expect(statSync(join(base, target)).mode & 0o777).toBe(0o601);
      }
    },
    replace: ['EAGAIN', 'committed'],
    remove: ['removed'],
  },
  {
    title: 'a hard link: it holds old or new content whole',
    act: (base) => {
      if (contentsOf(base).entries[target] !== undefined) linkSync(join(base, target), join(base, 'link'));
      return undefined;
    },
    check: (base) => expect([oldText, newText, undefined]).toContain(contentsOf(base).entries['link']),
    replace: ['committed'],
    remove: ['removed'],
  },
  {
    title:
      'the parent becomes a Git directory: WA_CLOSED_DIRECTORY, and nothing is changed, unless all was done before',
    act: (base) => {
      for (const name of ['objects', 'refs']) mkdirSync(join(base, 'root/d', name));
      writeFileSync(join(base, 'root/d/HEAD'), 'ref: refs/heads/main\n');
      return undefined;
    },
    check: (base, { error, outcome }) => {
      if (error !== undefined) {
        expect(error.code).toBe('WA_CLOSED_DIRECTORY');
        expect(readFileSync(join(base, target), 'utf8')).toBe(oldText);
      } else expect(['committed', 'removed']).toContain(outcome?.outcome);
    },
    replace: ['WA_CLOSED_DIRECTORY', 'committed'],
    remove: ['WA_CLOSED_DIRECTORY', 'removed'],
  },
];

async function waitUntil(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('what was waited for did not come');
    await setTimeout(1);
  }
}

/** Whether the process waits, not for the disk, in openat(2) (proc_pid_syscall(5)): a lease is what makes it. */
function sleepsInOpen(pid: number | undefined): boolean {
  const [call] = readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const openat = process.arch === 'arm64' ? '56' : '257';
  return call === openat && stat.slice(stat.lastIndexOf(')')).startsWith(') S');
}
