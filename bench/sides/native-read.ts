import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileFacts, loadBinding } from 'workspace-authority/native';
import type { Cleanup } from '../harness/cleanup.ts';
import { synchronously } from '../harness/timing.ts';
import type { Side } from '../harness/trial.ts';
import { makeScratch, pathAtDepth, writeRandomFile } from './scratch.ts';
import { settle } from './settle.ts';

export const nativeFileSize = 4096;

/** Files of 4 KiB beneath a root that is held by the native primitives alone. */
export interface NativeFiles {
  readonly root: string;
  /** What each file's path begins with; its number follows. */
  readonly prefix: string;
  readonly paths: readonly string[];
  readonly contents: readonly Buffer[];
  readonly read: (path: string) => Uint8Array;
}

/** The guard closes what looks like a Git directory, as the library's own does. */
export async function holdNativeFiles(cleanup: Cleanup, depth: number, count: number): Promise<NativeFiles> {
  const root = join(await makeScratch(cleanup), 'root');
  await mkdir(root);
  const prefix = pathAtDepth(depth, 'file-');
  const paths = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const contents: Buffer[] = [];
  for (const path of paths) contents.push(await writeRandomFile(root, path, nativeFileSize));
  const binding = loadBinding();
  const directory = await binding.openRoot(root, {});
  cleanup.add(() => directory.close());
  const guard = binding.createGuard(directory, {
    closedShape: ['HEAD', 'objects', 'refs'],
    closedIdentities: [],
  });
  cleanup.add(() => guard.close());
  const facts = new BigInt64Array(fileFacts.count);
  const read = (path: string): Uint8Array => {
    const content = directory.readCached(path, nativeFileSize, facts, guard);
    if (content === undefined) throw new Error('the file is not in memory');
    return content;
  };
  await settle();
  // Brings the way and the files into memory: the cached form never waits for a disk.
  for (const path of paths) await directory.read(path, nativeFileSize, facts, guard);
  return { root, prefix, paths, contents, read };
}

/** Reads the paths in turn. */
export function synchronousSide(
  paths: readonly string[],
  contents: readonly Buffer[],
  read: (path: string) => Uint8Array,
): Side {
  let turn = 0;
  return {
    sample: synchronously(() => {
      const path = paths[turn % paths.length] as string;
      turn += 1;
      return read(path);
    }),
    async verify() {
      for (const [index, path] of paths.entries()) {
        assert.ok(contents[index]?.equals(read(path)), 'the content read is not the content written');
      }
    },
  };
}
