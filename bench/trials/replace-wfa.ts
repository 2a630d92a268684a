import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { replaceContest } from '../sides/replace-contest.ts';
import { syncDirectory } from '../sides/replace-in-javascript.ts';

/** The package syncs the file but not its directory; that is added, so that both sides promise the same durability. */
export function prepare(cleanup: Cleanup, width: number): Promise<Contest> {
  return replaceContest(cleanup, width, (path) => async (bytes) => {
    await writeFileAtomic(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    await syncDirectory(dirname(path));
  });
}
