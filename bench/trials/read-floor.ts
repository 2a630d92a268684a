import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { holdNativeFile, synchronousSide } from '../sides/native-read.ts';
import { readFloorSide } from '../sides/read-floor.ts';

export async function prepare(cleanup: Cleanup, depth: number): Promise<Contest> {
  const { root, relativePath, bytes, read } = await holdNativeFile(cleanup, depth);
  return {
    ours: synchronousSide(read, bytes),
    theirs: await readFloorSide(cleanup, root, relativePath, bytes.length),
  };
}
