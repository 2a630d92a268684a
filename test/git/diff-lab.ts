import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { type CommitDiff, type DiffContext, type ModeDiff, readDiff } from '../../src/git/diff.ts';
import type { DiffFile } from '../../src/git/diff-file.ts';
import type { DiffQuery } from '../../src/git/diff-query.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

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

/** A lab for the tests of a file, and a fresh repository for each of them. */
export interface DiffPlace {
  readonly lab: DiffLab;
  readonly path: string;
  put(name: string, content: string | Buffer): Promise<void>;
  commitAll(): Promise<string>;
  oidOf(revision: string): Promise<string>;
  /** The code of the refusal, and its reason where it has one. */
  refusal(query: DiffQuery, context?: Partial<DiffContext>): Promise<string>;
}

export function useDiffLab(): DiffPlace {
  let lab: DiffLab | null = null;
  let count = 0;
  let path = '';
  const opened = (): DiffLab => {
    if (lab === null) throw new Error('only tests have a lab');
    return lab;
  };
  beforeAll(async () => {
    lab = await createDiffLab();
  });
  beforeEach(async () => {
    count += 1;
    path = await opened().make(`repository-${count}`);
  });
  afterAll(() => lab?.[Symbol.asyncDispose]());
  const oidOf = async (revision: string) => (await git(path, 'rev-parse', revision)).trimEnd();
  return {
    get lab() {
      return opened();
    },
    get path() {
      return path;
    },
    async put(name, content) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), content);
    },
    async commitAll() {
      await git(path, 'add', '-A');
      await git(path, 'commit', '-q', '--allow-empty', '-m', 'all');
      return oidOf('HEAD');
    },
    oidOf,
    refusal: (query, context = {}) =>
      opened()
        .diff(path, query, context)
        .then(
          () => 'an answer',
          (error) => `${error.code} ${error.details.reason ?? ''}`.trimEnd(),
        ),
  };
}

/** One number a line. */
export function numbers(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');
}

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
