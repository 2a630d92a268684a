import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const projectRoot: string = join(import.meta.dirname, '../..');

const programs = join(import.meta.dirname, 'programs');
const systemPath = '/usr/bin:/bin';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine as the set-up sees it: its own cache, its own PATH, and an npm that records what it is asked to do. */
export interface Machine extends Disposable {
  readonly directory: string;
  /** `XDG_CACHE_HOME` of everything that is started. */
  readonly cache: string;
  readonly environment: Record<string, string>;
  /** What the recording tools were asked to do, in order. */
  calls(): string[];
  /** The recording npm goes on only after `open`. */
  gate(): { readonly environment: Record<string, string>; open(): Promise<void> };
  start(script: string, args: readonly string[], environment?: Record<string, string>): ChildProcess;
  run(script: string, args: readonly string[], environment?: Record<string, string>): Promise<Ended>;
}

/** `tools` are the names of the programs that PATH offers, besides flock. */
export async function createMachine(tools: readonly string[]): Promise<Machine> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'wa-machine-')));
  const [cache, bin, fakes] = ['cache', 'bin', 'tools'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(cache, { mode: 0o700 });
  await mkdir(bin);
  cpSync(programs, fakes, { recursive: true });
  cpSync(join(programs, 'npm.mjs'), join(fakes, 'npm-cli.js'));
  await writeFile(join(fakes, 'package.json'), '{ "type": "module" }');
  await symlink(findOnSystem('flock'), join(bin, 'flock'));
  for (const tool of tools) {
    await writeFile(join(bin, tool), '#!/bin/sh\nexit 0\n');
    await chmod(join(bin, tool), 0o755);
  }
  const log = join(directory, 'calls.log');
  const environment = {
    PATH: bin,
    HOME: directory,
    XDG_CACHE_HOME: cache,
    npm_execpath: join(fakes, 'npm-cli.js'),
    FAKE_LOG: log,
  };
  const start: Machine['start'] = (script, args, extra = {}) =>
    spawn(process.execPath, [script, ...args], {
      env: { ...environment, ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    directory,
    cache,
    environment,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    gate: () => {
      const path = join(directory, `gate-${Math.random()}`);
      return { environment: { FAKE_GATE: path }, open: () => writeFile(path, '') };
    },
    start,
    run: (script, args, extra) => ended(start(script, args, extra)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function findOnSystem(program: string): string {
  const found = systemPath
    .split(delimiter)
    .map((directory) => join(directory, program))
    .find(existsSync);
  if (found === undefined) throw new Error(`${program} is not installed`);
  return found;
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** Waits for `condition`, for at most 20 seconds. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`it did not come about that ${what}`);
    await setTimeout(10);
  }
}

/** The processes that `pid` started and that still run: proc_pid_children(5). */
export async function childrenOf(pid: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

/** How many processes wait for the flock(2) lock of `path`: proc_locks(5) lists them with an arrow. */
export function waitersFor(path: string, inode: bigint): number {
  const lines = readFileSync('/proc/locks', 'utf8').split('\n');
  if (!existsSync(path)) return 0;
  return lines.filter((line) => line.includes('->') && line.includes(`:${inode} `)).length;
}
