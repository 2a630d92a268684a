import type { DiffBudget, DiffFile } from './diff-file.ts';
import { MalformedPatch, PatchReader } from './diff-patch.ts';
import { parseRawRecords } from './diff-raw.ts';
import { malformedOutput, unexpectedStatus } from './expect-success.ts';
import type { GitCommand, GitRunner } from './run-git.ts';

/** Records of more files than anybody looks at. */
const recordsLimitBytes = 32 * 1024 * 1024;

/**
 * Runs a diff and reads it while it is printed, so that a long one costs time and not memory.
 * @throws `git_failed` (details.reason also: `malformed-output`, `exit-status`) | as `GitRunner.stream`
 */
export async function readDiffOutput(
  git: GitRunner,
  command: GitCommand,
  budget: DiffBudget,
  signal?: AbortSignal,
): Promise<DiffFile[]> {
  const reader = new DiffReader(budget);
  try {
    const { exitCode, stderr } = await git.stream(command, (chunk) => reader.push(chunk), signal);
    if (exitCode !== 0) throw unexpectedStatus(command, exitCode, stderr);
    return reader.finish();
  } catch (error) {
    throw error instanceof MalformedPatch ? malformedOutput(command) : error;
  }
}

/** Reads records, an empty one, and the patch; nothing at all when nothing differs. */
export class DiffReader {
  readonly #budget: DiffBudget;
  #records: Buffer[] = [];
  #recordBytes = 0;
  #endsWithNul = false;
  #patch: PatchReader | null = null;

  constructor(budget: DiffBudget) {
    this.#budget = budget;
  }

  /** @throws MalformedPatch */
  push(chunk: Buffer): void {
    if (this.#patch === null) this.#record(chunk);
    else this.#patch.push(chunk);
  }

  /** @throws MalformedPatch */
  finish(): DiffFile[] {
    if (this.#patch !== null) return this.#patch.finish();
    if (this.#recordBytes > 0) throw new MalformedPatch('records without an end');
    return [];
  }

  #record(chunk: Buffer): void {
    // No field of a record is empty, so two NULs are the end of the records.
    const end = this.#endsWithNul && chunk[0] === 0 ? 0 : chunk.indexOf('\0\0') + 1;
    const isEnd = end > 0 || (this.#endsWithNul && chunk[0] === 0);
    const part = isEnd ? chunk.subarray(0, end) : chunk;
    this.#recordBytes += part.length;
    if (this.#recordBytes > recordsLimitBytes) throw new MalformedPatch('too many records');
    this.#records.push(part);
    this.#endsWithNul = chunk.at(-1) === 0;
    if (!isEnd) return;
    const records = parseRawRecords(Buffer.concat(this.#records));
    if (records === null) throw new MalformedPatch('records');
    this.#records = [];
    this.#patch = new PatchReader(records, this.#budget);
    this.#patch.push(chunk.subarray(end + 1));
  }
}
