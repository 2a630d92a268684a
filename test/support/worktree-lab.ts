import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { grantOf } from './answers.ts';
import { type AuthorityLab, createLab, type LabOptions } from './authority-lab.ts';
import { git, makeRepository } from './git.ts';

/** A registered main checkout and a worktree of it without a row. */
export interface WorktreeLab extends AsyncDisposable {
  readonly lab: AuthorityLab;
  /** `<place>/main` */
  readonly main: string;
  /** `<place>/tree`, on the branch `topic`. */
  readonly tree: string;
  /** Administrative directory of `tree`. */
  readonly administration: string;
  /** What a selector is granted, by default `tree`. */
  grant(selector?: string): Promise<string>;
  /** Another worktree of `main`, by default below `place`. */
  addWorktree(name: string, base?: string): Promise<string>;
}

export const linkedRoot = 'linked-worktree root';
export const refused = 'workspace_not_authorized';

export async function createWorktreeLab(options: LabOptions = {}): Promise<WorktreeLab> {
  const lab = await createLab(options);
  const [main, tree] = [join(lab.place, 'main'), join(lab.place, 'tree')];
  await makeRepository(main);
  await writeFile(join(main, 'file'), 'text\n');
  await git(main, 'add', 'file');
  await git(main, 'commit', '--quiet', '-m', 'second');
  await git(main, 'worktree', 'add', '-q', '-b', 'topic', tree);
  await lab.register('main');
  return {
    lab,
    main,
    tree,
    administration: join(main, '.git/worktrees/tree'),
    grant: (selector = tree) => grantOf(lab.authority, selector),
    async addWorktree(name, base = lab.place) {
      const path = join(base, name);
      await git(main, 'worktree', 'add', '-q', '--detach', path);
      return path;
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}
