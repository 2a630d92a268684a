import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What histories are made with; names may be bytes. */
export class Maker {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  path(name: string | Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), Buffer.from(name)]);
  }

  put(name: string | Buffer, content: string | Buffer, mode = 0o644): void {
    const path = this.path(name);
    mkdirSync(directoryOf(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
  }

  link(name: string, target: string | Buffer): void {
    rmSync(join(this.root, name), { recursive: true, force: true });
    mkdirSync(dirname(join(this.root, name)), { recursive: true });
    symlinkSync(target, join(this.root, name));
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.root, to)), { recursive: true });
    renameSync(join(this.root, from), join(this.root, to));
  }

  remove(name: string | Buffer): void {
    unlinkSync(this.path(name));
  }

  removeAll(name: string): void {
    rmSync(join(this.root, name), { recursive: true });
  }

  git(...words: readonly string[]): string {
    return this.gitWith('', ...words);
  }

  gitWith(input: string | Buffer, ...words: readonly string[]): string {
    return execFileSync('git', words, {
      cwd: this.root,
      input,
      env: environment,
      stdio: 'pipe',
    }).toString('latin1');
  }

  commit(subject = 'next'): string {
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', subject);
    return this.git('rev-parse', 'HEAD').trim();
  }
}

function directoryOf(path: Buffer): Buffer {
  return path.subarray(0, path.lastIndexOf('/'));
}

const environment = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
  GIT_ALLOW_PROTOCOL: 'file',
};
