import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);

/** Whether this process may mount; tests that need it are skipped elsewhere. */
export const mayMount: boolean = process.getuid?.() === 0;

/** Mounts until the test ends, whatever became of the mount by then. */
export async function mount(target: string, ...options: readonly string[]): Promise<void> {
  await mkdir(target, { recursive: true });
  await mountOver(target, ...options);
}

async function mountOver(target: string, ...options: readonly string[]): Promise<void> {
  await run('mount', [...options, target]);
  onTestFinished(() => unmount(target).catch(() => undefined));
}

/** Lazily: open handles keep what was mounted, as with a busy file system that is taken away. */
export async function unmount(target: string): Promise<void> {
  await run('umount', ['-l', target]);
}

export function mountTmpfs(target: string, size = '16m'): Promise<void> {
  return mount(target, '-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs');
}

export function mountBind(source: string, target: string): Promise<void> {
  return mount(target, '--bind', source);
}

/** One file over another, which exists. */
export function mountFile(source: string, target: string): Promise<void> {
  return mountOver(target, '--bind', source);
}

export async function remountReadOnly(target: string): Promise<void> {
  await run('mount', ['-o', 'remount,ro', target]);
}
