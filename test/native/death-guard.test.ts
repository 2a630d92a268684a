import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { deathGuard } from '../support/addon.ts';

/** Runs a command under the guard; the test is the host. */
function guarded(...words: readonly string[]): ChildProcess {
  return spawn(deathGuard, ['3', ...words], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
}

async function outputOf(child: ChildProcess): Promise<string> {
  return child.stdout === null ? '' : text(child.stdout);
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  const [code, signal] = await once(child, 'exit');
  return { code, signal };
}

/** Processes whose arguments hold the word; zombies have none. */
function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function waitFor(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what} did not come`);
    await setTimeout(2);
  }
}

let serial = 0;
/** A number of seconds that no other sleep of this machine has: how the test finds its processes. */
function ownSeconds(): string {
  return `${1_000_000 + process.pid}.${serial++}`;
}

/** Four sleeping processes: a child, a grandchild, one in a session of its own, and one whose parent has died. */
function familyOf(seconds: string): readonly string[] {
  const lines = [
    `sleep ${seconds} & sh -c 'sleep ${seconds}; true' &`,
    `setsid sleep ${seconds} &`,
    `sh -c 'setsid sh -c "sleep ${seconds} & sleep ${seconds}" & exit 0'`,
    'wait',
  ];
  return ['sh', '-c', lines.join('\n')];
}
const familySize = 5;

describe('decision 4: what a host started does not outlive it', () => {
  const deaths = ['SIGKILL', 'SIGTERM', 'SIGSEGV'] as const;
  test.each(deaths)('a host that dies by %s takes the whole family with it', async (signal) => {
    const seconds = ownSeconds();
    const program = join(import.meta.dirname, 'guard-host.mjs');
    const host = spawn(process.execPath, [program, deathGuard, ...familyOf(seconds)], { stdio: 'ignore' });
    await waitFor(() => processesWith(seconds).length === familySize, 'the family');
    const ended = endOf(host);
    host.kill(signal);
    await ended;
    await waitFor(() => processesWith(seconds).length === 0, 'the end of the family');
  });

  test('a host that closes the lifeline on purpose ends the command', async () => {
    const seconds = ownSeconds();
    const child = guarded(...familyOf(seconds));
    await waitFor(() => processesWith(seconds).length === familySize, 'the family');
    child.stdio[3]?.destroy();
    expect(await endOf(child)).toEqual({ code: null, signal: 'SIGKILL' });
    expect(processesWith(seconds)).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)(
    'the guard that gets %s ends the family, then itself by it',
    async (signal) => {
      const seconds = ownSeconds();
      const child = guarded(...familyOf(seconds));
      await waitFor(() => processesWith(seconds).length === familySize, 'the family');
      child.kill(signal);
      expect(await endOf(child)).toEqual({ code: null, signal });
      expect(processesWith(seconds)).toEqual([]);
    },
  );

  test('a guard that is killed takes the command with it', async () => {
    const seconds = ownSeconds();
    const child = guarded('sleep', seconds);
    await waitFor(() => processesWith(seconds).length === 2, 'guard and command');
    child.kill('SIGKILL');
    await endOf(child);
    await waitFor(() => processesWith(seconds).length === 0, 'the end of the command');
  });

  test('a command that ends leaves nothing behind, and nothing holds its output open', async () => {
    const seconds = ownSeconds();
    const child = guarded('sh', '-c', `sleep ${seconds} & setsid sleep ${seconds} & echo done; exit 3`);
    const [output, end] = await Promise.all([text(child.stdout as never), endOf(child)]);
    expect(output).toBe('done\n');
    expect(end).toEqual({ code: 3, signal: null });
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('the guard ends as the command did', () => {
  test('with each exit code', async () => {
    const codes = [0, 1, 2, 42, 124, 125, 126, 127, 128, 137, 254, 255];
    const ends = await Promise.all(codes.map((code) => endOf(guarded('sh', '-c', `exit ${code}`))));
    expect(ends).toEqual(codes.map((code) => ({ code, signal: null })));
  });

  const signals = ['SIGHUP', 'SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGABRT', 'SIGPIPE', 'SIGUSR1'] as const;
  test.each(signals)('by %s', async (signal) => {
    const child = guarded('sh', '-c', `kill -${constants.signals[signal]} $$`);
    expect(await endOf(child)).toEqual({ code: null, signal });
  });
});

describe('a command that cannot be started is exit 127, and the lifeline says why', () => {
  const failures: readonly (readonly [command: string, errno: number])[] = [
    ['/nowhere/at/all', constants.errno.ENOENT],
    ['no-such-program-anywhere', constants.errno.ENOENT],
    ['/proc', constants.errno.EACCES],
  ];
  test.each(failures)('%s', async (command, errno) => {
    const child = guarded(command);
    const said = text(child.stdio[3] as never);
    expect(await endOf(child)).toEqual({ code: 127, signal: null });
    expect(await said).toBe(`failed ${errno}\n`);
  });

  test('a command that itself answers 127 has no such mark', async () => {
    const child = guarded('sh', '-c', 'exit 127');
    const said = text(child.stdio[3] as never);
    expect(await endOf(child)).toEqual({ code: 127, signal: null });
    expect(await said).toBe('');
  });

  test('a limit of memory is that of the command, and of nothing that it was not given to', async () => {
    const limited = (...words: readonly string[]) =>
      outputOf(
        spawn(deathGuard, [...words, '3', 'sh', '-c', 'ulimit -d'], {
          // A preloaded sanitizer would need more memory than the limit.
          env: { PATH: process.env['PATH'] },
          stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        }),
      );
    expect(await limited('--data-limit=67108864')).toBe('65536\n');
    expect(await limited('--keep-session', '--data-limit=134217728')).toBe('131072\n');
    expect(await limited()).toBe('unlimited\n');
  });

  test('wrong usage is 125, with the reason on standard error', async () => {
    const limits = ['', 'x', '1x', '-1', ' 1', '18446744073709551615'].map(
      (limit) => `--data-limit=${limit}`,
    );
    for (const words of [
      ...limits.map((limit) => [limit, '3', 'true']),
      ['--data-limit=1'],
      [],
      ['3'],
      ['x', 'true'],
      ['-1', 'true'],
      ['99', 'true'],
      ['3x', 'true'],
    ]) {
      const child = spawn(deathGuard, words);
      const said = text(child.stderr);
      expect(await endOf(child)).toEqual({ code: 125, signal: null });
      expect(await said).toBe(`death-guard: failed ${constants.errno.EINVAL}\n`);
    }
  });
});

describe('the command is as it would be without the guard', () => {
  test('standard input, output and error pass through, and end when the command closes them', async () => {
    const child = guarded('sh', '-c', 'cat; echo error >&2; exec >&- 2>&-; read -r never < /dev/zero & wait');
    child.stdin?.end('input');
    expect(await text(child.stdout as never)).toBe('input');
    expect(await text(child.stderr as never)).toBe('error\n');
    expect(child.exitCode, 'it still runs').toBeNull();
    child.stdio[3]?.destroy();
    await endOf(child);
  });

  test('an IPC channel works and disconnects', async () => {
    const script = 'process.on("message", (word) => { process.send(word + "!"); process.disconnect(); })';
    const child = spawn(deathGuard, ['4', process.execPath, '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    });
    const answer = once(child, 'message');
    child.send('hello');
    expect((await answer)[0]).toBe('hello!');
    await once(child, 'disconnect');
    expect(await endOf(child)).toEqual({ code: 0, signal: null });
  });

  test('it has no descriptor of the guard, and only the signals ignored and blocked that it would have', async () => {
    const script =
      'ls -l /proc/self/fd | grep -c "socket\\|anon_inode"; grep -E "Sig(Blk|Ign)" /proc/self/status';
    const child = spawn(deathGuard, ['3', 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    const bare = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output, expected] = await Promise.all([outputOf(child), outputOf(bare)]);
    expect(output).toBe(expected);
  });

  test.each([
    [[], true],
    [['--keep-session'], false],
  ] as const)('with %j it has a session of its own: %s', async (options, own) => {
    const script = 'cut -d " " -f 5,6 /proc/self/stat';
    const child = spawn(deathGuard, [...options, '3', 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    const [group, session] = (await outputOf(child)).split(/\s/).map(Number);
    expect(group === session).toBe(own);
    expect(group).not.toBe(child.pid);
  });

  test('a command that cannot be killed at once is waited for', async () => {
    const seconds = ownSeconds();
    const child = guarded('sh', '-c', `trap "" TERM INT HUP; sleep ${seconds}`);
    await waitFor(() => processesWith(seconds).length === 1, 'the command');
    child.kill('SIGTERM');
    expect(await endOf(child)).toEqual({ code: null, signal: 'SIGTERM' });
    expect(processesWith(seconds)).toEqual([]);
  });
});
