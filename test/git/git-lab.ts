import { spawn } from 'node:child_process';
import { access, chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import type { GitRunner } from '../../src/git/run-git.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

/** Repositories with real capabilities, and a program that leaves a mark when anything starts it. */
export interface GitLab extends AsyncDisposable {
  readonly place: string;
  readonly git: GitRunner;
  /** A program that leaves the mark and fails, whatever it was started for. */
  readonly program: string;
  /** Whether the program ran since the last time this was asked. */
  hasRun(): Promise<boolean>;
  /**
   * A registered main checkout with two commits on `main` and one on `other`, all of which touch `k`, and an edit of `k` that keeps its
   * size, so that only its content tells.
   */
  makeRepository(name: string): Promise<string>;
  hold(path: string): Promise<RepositoryCapability>;
}

export async function createGitLab(): Promise<GitLab> {
  const lab: AuthorityLab = await createLab({ mode: 'git' });
  const marker = join(lab.place, 'marker');
  const program = join(lab.place, 'program');
  await writeFile(program, `#!/bin/sh\n: > '${marker}'\nexit 1\n`);
  await chmod(program, 0o755);
  const held: RepositoryCapability[] = [];
  return {
    place: lab.place,
    git: lab.git,
    program,
    async hasRun() {
      const ran = await access(marker).then(
        () => true,
        () => false,
      );
      await rm(marker, { force: true });
      return ran;
    },
    async makeRepository(name) {
      const path = join(lab.place, name);
      await makeRepository(path);
      await commitFile(path, 'k', 'one\n');
      await git(path, 'branch', 'other');
      await commitFile(path, 'k', 'two\n');
      await git(path, 'checkout', '-q', 'other');
      await commitFile(path, 'k', 'six\n');
      await git(path, 'checkout', '-q', 'main');
      await writeFile(join(path, 'k'), 'ten\n');
      await lab.register(name);
      return path;
    },
    async hold(path) {
      const capability = await lab.authority.authorizeRepository(path);
      held.push(capability);
      return capability;
    },
    async [Symbol.asyncDispose]() {
      for (const capability of held) await capability[Symbol.asyncDispose]();
      await lab[Symbol.asyncDispose]();
    },
  };
}

export async function commitFile(path: string, name: string, content: string): Promise<void> {
  await writeFile(join(path, name), content);
  await git(path, 'add', '--', name);
  await git(path, 'commit', '-q', '-m', `${name} ${content.trim()}`);
}

/** Attributes that no commit holds (gitattributes(5), `info/attributes`). */
export async function setAttributes(path: string, text: string): Promise<void> {
  await mkdir(join(path, '.git/info'), { recursive: true });
  await writeFile(join(path, '.git/info/attributes'), text);
}

/** Git as nobody guards it, with an input; how it ends does not matter. */
export function unguarded(directory: string, words: readonly string[], input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', words, {
      cwd: directory,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: '/nonexistent',
        GIT_TERMINAL_PROMPT: '0',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.invalid',
      },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}
