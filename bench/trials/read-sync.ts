import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { holdNativeFile, synchronousSide } from '../sides/native-read.ts';

export async function prepare(cleanup: Cleanup, depth: number): Promise<Contest> {
  const { root, relativePath, bytes, read } = await holdNativeFile(cleanup, depth);
  const absolutePath = join(root, relativePath);
  return {
    ours: synchronousSide(read, bytes),
    theirs: synchronousSide(() => readFileSync(absolutePath), bytes),
  };
}
