import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { holdNativeFiles, synchronousSide } from '../sides/native-read.ts';

export async function prepare(cleanup: Cleanup, depth: number, files: number): Promise<Contest> {
  const { root, paths, contents, read } = await holdNativeFiles(cleanup, depth, files);
  const absolutePaths = paths.map((path) => join(root, path));
  return {
    ours: synchronousSide(paths, contents, read),
    theirs: synchronousSide(absolutePaths, contents, (path) => readFileSync(path)),
  };
}
