import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ListedEntry, parseBeneathPath } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed } from '../harness/timing.ts';
import type { Contest, Side } from '../harness/trial.ts';
import { type OpenWorkspace, openWorkspace } from '../sides/workspace.ts';

const count = 10_000;
/** Every file has its own size, so that a mixed-up answer is seen. */
const names: readonly string[] = Array.from({ length: count }, (_, index) => `entry-${index}`);

type Entries = readonly {
  readonly name: string | null;
  readonly size: number;
  readonly modifiedMs: number;
}[];

export async function prepare(cleanup: Cleanup): Promise<Contest> {
  const workspace = await openWorkspace(cleanup, async (root) => {
    await mkdir(join(root, 'many'));
    for (const [index, name] of names.entries()) {
      await writeFile(join(root, 'many', name), 'x'.repeat(index % 100));
    }
  });
  const directory = join(workspace.root, 'many');
  return { ours: listSide(() => listHeld(workspace)), theirs: listSide(() => listWithLstat(directory)) };
}

async function listHeld({ service, capability }: OpenWorkspace): Promise<Entries> {
  const path = parseBeneathPath('many');
  const entries: ListedEntry[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof service.files.list>> = await service.files.list(
      capability,
      path,
      cursor === null ? { limit: count } : { cursor, limit: count },
    );
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== null);
  return entries;
}

async function listWithLstat(directory: string): Promise<Entries> {
  const found = await readdir(directory);
  return Promise.all(
    found.map(async (name) => {
      const { size, mtimeMs } = await lstat(join(directory, name));
      return { name, size, modifiedMs: mtimeMs };
    }),
  );
}

function listSide(list: () => Promise<Entries>): Side {
  return {
    sample: eachTimed(list),
    async verify() {
      const sizes = new Map((await list()).map(({ name, size }) => [name, size]));
      assert.equal(sizes.size, count);
      for (const [index, name] of names.entries()) assert.equal(sizes.get(name), index % 100);
    },
  };
}
