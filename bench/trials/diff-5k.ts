import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed } from '../harness/timing.ts';
import type { Contest } from '../harness/trial.ts';
import { git, makeRepository } from '../sides/repository.ts';
import { settle } from '../sides/settle.ts';
import { openWorkspace } from '../sides/workspace.ts';

const run = promisify(execFile);

const files = 5000;
const filesInDirectory = 100;
const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];

/** The files as they are, each with one line that is not committed. */
export async function prepareFiles(cleanup: Cleanup): Promise<Contest> {
  const { service, root } = await openWorkspace(cleanup, async (path) => {
    await makeRepository(path);
    await writeFiles(path, 'first');
    await commitAll(path);
    await writeFiles(path, 'second');
  });
  return contest(() => service.reads.diff(root, {}), root, ['HEAD']);
}

/** The same change, committed. */
export async function prepareCommit(cleanup: Cleanup): Promise<Contest> {
  const { service, root } = await openWorkspace(cleanup, async (path) => {
    await makeRepository(path);
    await writeFiles(path, 'first');
    await commitAll(path);
    await writeFiles(path, 'second');
    await commitAll(path);
  });
  const commit = (await git(root, 'rev-parse', 'HEAD')).trimEnd();
  return contest(() => service.reads.diff(root, { commit }), root, [`${commit}^`, commit]);
}

interface Answer {
  readonly files: readonly { readonly status: string; readonly hunks: readonly unknown[] }[];
}

async function contest(ours: () => Promise<Answer>, root: string, revisions: string[]): Promise<Contest> {
  await settle();
  const theirs = async () => {
    const words = ['diff', ...revisions, '--'];
    const { stdout } = await run('git', words, { cwd: root, maxBuffer: 2 ** 30, encoding: 'buffer' });
    return stdout;
  };
  return {
    ours: {
      sample: eachTimed(ours),
      async verify() {
        const answer = await ours();
        assert.equal(answer.files.length, files);
        assert.ok(answer.files.every(({ status, hunks }) => status === 'modified' && hunks.length === 1));
      },
    },
    theirs: {
      sample: eachTimed(theirs),
      async verify() {
        assert.equal((await theirs()).toString().match(/^diff --git /gm)?.length, files);
      },
    },
  };
}

async function writeFiles(root: string, word: string): Promise<void> {
  for (let index = 0; index < files; index += 1) {
    const directory = join(root, `directory-${Math.floor(index / filesInDirectory)}`);
    if (index % filesInDirectory === 0) await mkdir(directory, { recursive: true });
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line}`);
    lines[10] = `the ${word} version of ${index}`;
    await writeFile(join(directory, `file-${index}`), `${lines.join('\n')}\n`);
  }
}

async function commitAll(root: string): Promise<void> {
  await git(root, 'add', '--all');
  await git(root, ...identity, 'commit', '--quiet', '--no-gpg-sign', '-m', 'all');
}
