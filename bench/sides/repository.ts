import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Starts Git as a program would that asks it. @throws when Git fails */
export async function git(directory: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run('git', words, { cwd: directory });
  return stdout;
}

/** A main checkout with one commit. */
export async function makeRepository(root: string): Promise<void> {
  await git(root, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(root, 'README'), 'a repository\n');
  await git(root, 'add', '--', 'README');
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  await git(root, ...identity, 'commit', '--quiet', '--no-gpg-sign', '-m', 'first');
}
