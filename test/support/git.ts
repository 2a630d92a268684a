import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

const environment = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

/** Git as a person at a clean machine would have it. @throws when it fails */
export async function git(directory: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run('git', words, { cwd: directory, env: environment });
  return stdout;
}

/** A main checkout with one commit on `main`. */
export async function makeRepository(path: string): Promise<void> {
  await run('git', ['init', '--quiet', '--initial-branch=main', '--', path], { env: environment });
  await git(path, 'commit', '--quiet', '--allow-empty', '-m', 'first');
}

/** The same, with the Git dir somewhere else (git-init(1), `--separate-git-dir`). */
export async function makeSeparateRepository(path: string, gitDirectory: string): Promise<void> {
  const options = ['--quiet', '--initial-branch=main', `--separate-git-dir=${gitDirectory}`];
  await run('git', ['init', ...options, '--', path], { env: environment });
  await git(path, 'commit', '--quiet', '--allow-empty', '-m', 'first');
}
