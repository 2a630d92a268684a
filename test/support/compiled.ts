import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';

const root = join(import.meta.dirname, '../..');

/**
 * Compiles the sources as a release does, beside `dist`, so that a test of a program never runs an older one; removed after the tests
 * of the file. To be asked for in `beforeAll`. Answers with the directory.
 */
export async function compileSources(): Promise<string> {
  const directory = await mkdtemp(join(root, 'dist.test-'));
  directories.push(directory);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', directory], {
    cwd: root,
  });
  return directory;
}

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});
