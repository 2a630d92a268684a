import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';

/** A temporary directory for the files of one contest; the path is canonical. */
export async function makeScratch(cleanup: Cleanup): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'workspace-authority-bench-')));
  cleanup.add(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Letters and digits, so that text and bytes have the same length. */
export function randomText(size: number): string {
  return randomBytes(size / 2).toString('hex');
}

/** Writes random text; `relativePath` may have several components. */
export async function writeRandomFile(root: string, relativePath: string, size: number): Promise<Buffer> {
  const bytes = Buffer.from(randomText(size));
  await mkdir(dirname(join(root, relativePath)), { recursive: true });
  await writeFile(join(root, relativePath), bytes);
  return bytes;
}

/** `depth` components, the last of which is the given name. */
export function pathAtDepth(depth: number, name: string): string {
  const directories = Array.from({ length: depth - 1 }, (_, index) => `directory-${index + 1}`);
  return [...directories, name].join('/');
}
