import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileFacts, loadBinding } from 'workspace-authority/native';
import type { Cleanup } from '../harness/cleanup.ts';
import { synchronously } from '../harness/timing.ts';
import type { Side } from '../harness/trial.ts';
import { makeScratch, pathAtDepth, writeRandomFile } from './scratch.ts';

const size = 4096;

/** A file of 4 KiB beneath a root that is held by the native primitives alone. */
export interface NativeFile {
  readonly root: string;
  readonly relativePath: string;
  readonly bytes: Buffer;
  readonly read: () => Uint8Array;
}

/** The guard closes what looks like a Git directory, as the library's own does. */
export async function holdNativeFile(cleanup: Cleanup, depth: number): Promise<NativeFile> {
  const root = join(await makeScratch(cleanup), 'root');
  await mkdir(root);
  const relativePath = pathAtDepth(depth, 'file');
  const bytes = await writeRandomFile(root, relativePath, size);
  const binding = loadBinding();
  const directory = await binding.openRoot(root, {});
  cleanup.add(() => directory.close());
  const guard = binding.createGuard(directory, {
    closedShape: ['HEAD', 'objects', 'refs'],
    closedIdentities: [],
  });
  cleanup.add(() => guard.close());
  const facts = new BigInt64Array(fileFacts.count);
  const read = (): Uint8Array => {
    const content = directory.readCached(relativePath, size, facts, guard);
    if (content === undefined) throw new Error('the file is not in memory');
    return content;
  };
  // Brings the way and the file into memory: the cached form never waits for a disk.
  await directory.read(relativePath, size, facts, guard);
  return { root, relativePath, bytes, read };
}

export function synchronousSide(read: () => Uint8Array, expected: Buffer): Side {
  return {
    sample: synchronously(read),
    verify: async () => assert.ok(expected.equals(read()), 'the content read is not the content written'),
  };
}
