import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { type AuthorityLab, createLab, type LabOptions, makePlace } from './authority-lab.ts';
import { makeRepository } from './git.ts';
import {
  addManagedWorktree,
  kindOf,
  type ManagedWorktree,
  managedRoots,
  type Version,
} from './managed-worktrees.ts';

/** An authority that knows a managed root of each scheme below `place`. */
export interface ManagedLab extends AsyncDisposable {
  readonly lab: AuthorityLab;
  readonly place: string;
  /** A managed worktree of a fresh, registered main checkout. */
  add(version: Version): Promise<ManagedWorktree>;
  kindOf(selector: string): Promise<string>;
  authorize(selector: string): Promise<RepositoryCapability>;
  /** What an operator is told about a worktree being managed, or the last fact where it did not come to that. */
  told(selector: string): Promise<string>;
}

export async function createManagedLab(options: LabOptions = {}): Promise<ManagedLab> {
  const place = await makePlace();
  const lab = await createLab({ place, managedRoots: managedRoots(place), ...options });
  const { authority } = lab;
  let repositories = 0;
  return {
    lab,
    place,
    async add(version) {
      repositories += 1;
      const main = join(place, `main${repositories}`);
      await makeRepository(main);
      await lab.register(`main${repositories}`);
      return addManagedWorktree(place, version, main);
    },
    kindOf: (selector) => kindOf(authority, selector),
    authorize: (selector) => authority.authorizeRepository(selector),
    async told(selector) {
      const { facts } = await authority.explain(selector);
      return facts.find(({ fact }) => fact === 'managed worktree')?.seen ?? JSON.stringify(facts.at(-1));
    },
    async [Symbol.asyncDispose]() {
      await lab[Symbol.asyncDispose]();
      await rm(place, { recursive: true, force: true });
    },
  };
}
