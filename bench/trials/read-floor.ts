import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { holdNativeFiles, synchronousSide } from '../sides/native-read.ts';
import { readFloorSide } from '../sides/read-floor.ts';

export async function prepare(cleanup: Cleanup, depth: number, files: number): Promise<Contest> {
  const held = await holdNativeFiles(cleanup, depth, files);
  return {
    ours: synchronousSide(held.paths, held.contents, held.read),
    theirs: await readFloorSide(cleanup, held),
  };
}
