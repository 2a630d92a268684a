import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { type CommitDiff, type DiffContext, type ModeDiff, readDiff } from '../../src/git/diff.ts';
import type { DiffFile } from '../../src/git/diff-file.ts';
import type { DiffQuery } from '../../src/git/diff-query.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { makeRepository } from '../support/git.ts';

/** Registered repositories, and what the library says of them. */
export interface DiffLab extends AsyncDisposable {
  readonly lab: AuthorityLab;
  /** A registered main checkout with one empty commit. */
  make(name: string): Promise<string>;
  diff(path: string, query?: DiffQuery, context?: Partial<DiffContext>): Promise<ModeDiff>;
  commit(path: string, commit: string, query?: DiffQuery): Promise<CommitDiff>;
}

export async function createDiffLab(): Promise<DiffLab> {
  const lab = await createLab({ mode: 'git' });
  const configuration = createConfigurationGate(lab.git);
  async function read(path: string, query: DiffQuery, context: Partial<DiffContext>) {
    await using capability: RepositoryCapability = await lab.authority.authorizeRepository(path);
    return await readDiff(capability, { git: lab.git, configuration, origin: null, ...context }, query);
  }
  return {
    lab,
    async make(name) {
      await makeRepository(`${lab.place}/${name}`);
      return lab.register(name);
    },
    async diff(path, query = {}, context = {}) {
      const answer = await read(path, query, context);
      if ('sha' in answer) throw new Error('a commit');
      return answer;
    },
    async commit(path, commit, query = {}) {
      const answer = await read(path, { ...query, commit }, {});
      if (!('sha' in answer)) throw new Error('no commit');
      return answer;
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

/** The one file of a diff that has no other. */
export function onlyFile({ files }: { readonly files: readonly DiffFile[] }): DiffFile {
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Error(`${files.length} files`);
  return file;
}

/** The lines of a file as a patch shows them. */
export function linesOf(file: DiffFile): string[] {
  const marks = { add: '+', del: '-', ctx: ' ', meta: '' };
  return file.hunks.flatMap(({ lines }) => lines.map(({ type, content }) => marks[type] + content));
}
