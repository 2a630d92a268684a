import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { git } from './git.ts';

/** One commit of a made-up history; parents by their position, which comes before its own. */
export interface MadeCommit {
  readonly parents: readonly number[];
  /** Seconds since 1970 of the committer; the author is the same. */
  readonly at: number;
  readonly subject?: string | Buffer;
  readonly author?: string | Buffer;
}

/** Writes commits with empty trees, and refs that lead to some of them, by position; in one process (git-fast-import(1)). */
export async function writeHistory(
  path: string,
  commits: readonly MadeCommit[],
  refs: Readonly<Record<string, number>>,
): Promise<void> {
  const parts: (string | Buffer)[] = [];
  for (const [index, { parents, at, subject = `commit ${index}`, author = 'a' }] of commits.entries()) {
    parts.push(`commit refs/made/up\nmark :${index + 1}\n`);
    parts.push('author ', author, ` <a@example.invalid> ${at} +0000\n`);
    parts.push(`committer a <a@example.invalid> ${at} +0000\n`);
    const message = Buffer.from(subject);
    parts.push(`data ${message.length}\n`, message, '\n');
    const [first, ...others] = parents;
    if (first !== undefined) parts.push(`from :${first + 1}\n`);
    for (const parent of others) parts.push(`merge :${parent + 1}\n`);
    // Each begins anew, so that a commit without parents is a root.
    parts.push('\nreset refs/made/up\n\n');
  }
  for (const [ref, index] of Object.entries(refs)) parts.push(`reset ${ref}\nfrom :${index + 1}\n\n`);
  const child = spawn('git', ['fast-import', '--quiet', '--force'], {
    cwd: path,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(Buffer.concat(parts.map((part) => Buffer.from(part))));
  const [exitCode] = await once(child, 'close');
  if (exitCode !== 0) throw new Error('git fast-import failed');
}

/** Full object name of a ref. */
export async function oidOf(path: string, ref: string): Promise<string> {
  return (await git(path, 'rev-parse', '--verify', ref)).trimEnd();
}

/** Makes `origin` a remote that nobody can reach, whose branches are remembered below `refs/remotes/origin/`. */
export async function addOrigin(path: string): Promise<void> {
  await git(path, 'remote', 'add', 'origin', '/nonexistent/origin.git');
}

/** What `git branch --set-upstream-to` writes. */
export async function setUpstream(path: string, branch: string, upstream: string): Promise<void> {
  await git(path, 'config', `branch.${branch}.remote`, 'origin');
  await git(path, 'config', `branch.${branch}.merge`, `refs/heads/${upstream}`);
}
