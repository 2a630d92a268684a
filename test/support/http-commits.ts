import { expect } from 'vitest';
import type { CommitListing } from '../../src/git/commits.ts';
import { ask, get } from '../http/public-bugs/bug-table.ts';
import { git } from './git.ts';
import { type MadeCommit, writeHistory } from './history.ts';
import { useWorktreeLab } from './http-worktree-lab.ts';

/** What tests of commits do in the main checkout of a worktree lab. */
export function useCommits() {
  const here = useWorktreeLab();

  /** The same answer from the library and from the route. */
  async function list(cwd: string, base?: string): Promise<CommitListing> {
    const query = base === undefined ? {} : { base };
    const listing = await here.lab.service.reads.commits(cwd, query);
    const { body } = await ask(here.lab, get('/commits', { cwd, ...query }), 200);
    expect(body).toEqual({ ok: true, ...listing });
    return listing;
  }

  async function subjects(cwd: string, base?: string): Promise<readonly string[]> {
    return (await list(cwd, base)).commits.map(({ subject }) => subject);
  }

  async function refused(cwd: string, base: string): Promise<void> {
    const { body } = await ask(here.lab, get('/commits', { cwd, base }), 422, 'invalid_base_revision');
    expect(body?.['error']).toBe('invalid base revision');
    await expect(here.lab.service.reads.commits(cwd, { base })).rejects.toMatchObject({
      code: 'invalid_base_revision',
    });
  }

  /** A line of commits, one a second, with refs on some of them; `HEAD` is on the branch `topic`. */
  async function line(length: number, refs: Readonly<Record<string, number>>): Promise<void> {
    const commits = Array.from(
      { length },
      (_, index): MadeCommit => ({ parents: index === 0 ? [] : [index - 1], at: 1000 + index }),
    );
    await history(commits, refs);
  }

  async function history(
    commits: readonly MadeCommit[],
    refs: Readonly<Record<string, number>>,
  ): Promise<void> {
    await writeHistory(here.main, commits, refs);
    await git(here.main, 'symbolic-ref', 'HEAD', 'refs/heads/topic');
  }

  return { here, list, subjects, refused, line, history };
}
