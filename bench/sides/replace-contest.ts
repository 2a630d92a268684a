import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBeneathPath } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed, together } from '../harness/timing.ts';
import type { Contest, Side } from '../harness/trial.ts';
import { randomText, writeRandomFile } from './scratch.ts';
import { type OpenWorkspace, openWorkspace } from './workspace.ts';

/** Commits new content to one file and resolves when file and name are durable. */
export type ReplaceOperation = (bytes: Uint8Array) => Promise<unknown>;

const size = 4096;
const contents = [Buffer.from(randomText(size)), Buffer.from(randomText(size))] as const;

/** `width` files of one directory, each with one commit in flight. */
export async function replaceContest(
  cleanup: Cleanup,
  width: number,
  theirs: (absolutePath: string) => ReplaceOperation,
): Promise<Contest> {
  const names = (side: string): string[] => Array.from({ length: width }, (_, index) => `${side}-${index}`);
  const [ourNames, theirNames] = [names('ours'), names('theirs')];
  const workspace = await openWorkspace(cleanup, async (root) => {
    for (const name of [...ourNames, ...theirNames]) await writeRandomFile(root, `files/${name}`, size);
  });
  const absolute = (name: string): string => join(workspace.root, 'files', name);
  const ours = await Promise.all(ourNames.map((name) => guardedReplace(workspace, `files/${name}`)));
  return {
    ours: replaceSide(ours, ourNames.map(absolute)),
    theirs: replaceSide(theirNames.map(absolute).map(theirs), theirNames.map(absolute)),
  };
}

/** A client that saves again and again: every commit names the version that the last one made. */
export async function guardedReplace(
  { service, capability }: OpenWorkspace,
  path: string,
): Promise<ReplaceOperation> {
  let { etag } = await service.files.read(capability, parseBeneathPath(path));
  return async (bytes) => {
    ({ etag } = await service.files.replace(capability, parseBeneathPath(path), bytes, { etag }));
  };
}

function replaceSide(operations: readonly ReplaceOperation[], paths: readonly string[]): Side {
  let turn = 0;
  const replaceNext = (index: number): Promise<unknown> => {
    const replace = operations[index];
    if (replace === undefined) throw new RangeError('fewer files than commits');
    // New bytes each time, as an equal file could be skipped.
    return replace(contents[turn % 2 === 0 ? 0 : 1]);
  };
  const one = (): Promise<unknown> => {
    turn += 1;
    return replaceNext(0);
  };
  const all = (index: number): Promise<unknown> => {
    if (index === 0) turn += 1;
    return replaceNext(index);
  };
  return {
    sample: operations.length === 1 ? eachTimed(one) : together(operations.length, all),
    async verify() {
      turn += 1;
      await Promise.all(operations.map((_, index) => replaceNext(index)));
      for (const path of paths) {
        assert.ok(
          contents[turn % 2 === 0 ? 0 : 1].equals(await readFile(path)),
          'the commit is not what stands there',
        );
      }
    },
  };
}
