import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Service, ServiceOptions } from '../../src/service.ts';
import { type ActionLab, createActionLab } from '../actions/action-lab.ts';
import { git } from '../support/git.ts';
import { addOwnWorktree } from '../support/http-worktrees.ts';

/** What the test that runs now works with: a registered repository, and a managed worktree of it. */
export interface RemovalPlace {
  readonly lab: ActionLab;
  readonly service: Service;
  readonly main: string;
  /** On the branch `task`. */
  readonly worktree: string;
  /** Another managed worktree of the same repository. */
  add(branch: string): Promise<string>;
}

export function useRemovalLab(options: ServiceOptions = {}): RemovalPlace {
  let lab: ActionLab | null = null;
  let main = '';
  let worktree = '';
  let count = 0;
  const opened = (): ActionLab => {
    if (lab === null) throw new Error('only tests have a lab');
    return lab;
  };
  const here: RemovalPlace = {
    get lab() {
      return opened();
    },
    get service() {
      return opened().service;
    },
    get main() {
      return main;
    },
    get worktree() {
      return worktree;
    },
    add: (branch) => addOwnWorktree(main, join(opened().place, 'state/worktrees'), branch, 'Title'),
  };
  beforeAll(async () => {
    lab = await createActionLab(options);
  });
  beforeEach(async () => {
    count += 1;
    main = await opened().repository(`repo ${count}`);
    await fill(main, { f: 'one\n', g: 'two\n' });
    await commitAll(main, 'files');
    worktree = await here.add('task');
  });
  afterAll(() => lab?.[Symbol.asyncDispose]());
  return here;
}

/** Files with content, relative to a directory that has their parents. */
export async function fill(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
}

export async function commitAll(directory: string, message: string): Promise<string> {
  await git(directory, 'add', '-A');
  await git(directory, 'commit', '-q', '-m', message);
  return (await git(directory, 'rev-parse', 'HEAD')).trim();
}
