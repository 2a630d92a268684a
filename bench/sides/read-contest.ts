import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBeneathPath } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import { oneAtATime, together } from '../harness/timing.ts';
import type { Contest, Side } from '../harness/trial.ts';
import { pathAtDepth, writeRandomFile } from './scratch.ts';
import { settle } from './settle.ts';
import { type OpenWorkspace, openWorkspace } from './workspace.ts';

/** One file under both spellings. */
export interface ReadTarget {
  readonly relativePath: string;
  readonly absolutePath: string;
  readonly bytes: Buffer;
}

export interface ReadFixture {
  readonly workspace: OpenWorkspace;
  readonly first: ReadTarget;
  /** All of them: distinct files in one directory. */
  readonly targets: readonly ReadTarget[];
}

export type ReadOperation = (target: ReadTarget) => Promise<Uint8Array | string>;

interface ReadContestOptions {
  readonly depth: number;
  readonly size: number;
  /** Reads in flight; 1 reads one after the other. */
  readonly width: number;
  /** Files read in turn; as many as there are reads in flight when left out. */
  readonly files?: number;
  /** Writes the files again before each turn, so that every read meets a file that changed a moment ago. */
  readonly changing?: boolean;
  readonly ours?: (fixture: ReadFixture) => ReadOperation;
  readonly theirs: (fixture: ReadFixture) => ReadOperation;
}

/** A guarded read of ours against another way to read the same files. */
export async function readContest(cleanup: Cleanup, options: ReadContestOptions): Promise<Contest> {
  const fixture = await makeReadFixture(cleanup, options);
  const { width, changing = false, ours = guardedRead, theirs } = options;
  const side = (read: ReadOperation): Side => {
    const { sample, verify } = readSide(fixture, width, read);
    if (!changing) return { sample, verify };
    return {
      async sample(budgetMs) {
        for (const { absolutePath, bytes } of fixture.targets) await writeFile(absolutePath, bytes);
        return sample(budgetMs);
      },
      verify,
    };
  };
  return { ours: side(ours(fixture)), theirs: side(theirs(fixture)) };
}

export async function makeReadFixture(
  cleanup: Cleanup,
  { depth, size, width, files = width }: Pick<ReadContestOptions, 'depth' | 'size' | 'width' | 'files'>,
): Promise<ReadFixture> {
  const targets: ReadTarget[] = [];
  const workspace = await openWorkspace(cleanup, async (root) => {
    for (let index = 0; index < files; index += 1) {
      const relativePath = pathAtDepth(depth, `file-${index}`);
      const bytes = await writeRandomFile(root, relativePath, size);
      targets.push({ relativePath, absolutePath: join(root, relativePath), bytes });
    }
  });
  await settle();
  const [first] = targets;
  if (first === undefined) throw new RangeError('a contest needs a file');
  return { workspace, first, targets };
}

/** What the library offers: path text in, bytes out. The path is parsed each time, as it is in a request. */
export function guardedRead({ workspace: { service, capability } }: ReadFixture): ReadOperation {
  return async (target) => {
    const reading = await service.files.read(capability, parseBeneathPath(target.relativePath));
    return reading.bytes;
  };
}

export function readSide({ targets }: ReadFixture, width: number, read: ReadOperation): Side {
  let turn = 0;
  const readNext = (): Promise<Uint8Array | string> => {
    const target = targets[turn % targets.length] as ReadTarget;
    turn += 1;
    return read(target);
  };
  return {
    sample: width === 1 ? oneAtATime(readNext) : together(width, readNext),
    async verify() {
      for (const target of targets) assertSameContent(await read(target), target.bytes);
    },
  };
}

function assertSameContent(content: Uint8Array | string, expected: Buffer): void {
  const same = typeof content === 'string' ? content === expected.toString() : expected.equals(content);
  assert.ok(same, 'the content read is not the content written');
}
