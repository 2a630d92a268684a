import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Side } from '../harness/trial.ts';
import { type NativeFiles, nativeFileSize } from './native-read.ts';
import { makeScratch } from './scratch.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../floor/read_floor.c');

/** The C loop as a side; compiled for this contest with the system's C compiler. */
export async function readFloorSide(
  cleanup: Cleanup,
  { root, prefix, paths }: Pick<NativeFiles, 'root' | 'prefix' | 'paths'>,
): Promise<Side> {
  const program = join(await makeScratch(cleanup), 'read_floor');
  await run('cc', ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program, source]);
  async function sample(budgetMs: number): Promise<readonly number[]> {
    const numbers = [paths.length, nativeFileSize, budgetMs].map(String);
    const { stdout } = await run(program, [root, prefix, ...numbers], { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim().split('\n').map(Number);
  }
  // The program itself fails when a read is not whole.
  return { sample, verify: async () => void (await sample(0)) };
}
