import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest, Scale } from '../harness/trial.ts';
import { askOnce, httpContest } from '../http/http-contest.ts';
import { requestBytes, type Target } from '../http/request-bytes.ts';
import { randomText } from '../sides/scratch.ts';

const [first, second] = [randomText(4096), randomText(4096)] as const;
/** One file for each connection, so that no commit is based on a stale version. */
const paths: readonly string[] = Array.from({ length: 16 }, (_, index) => `files/file-${index}`);
/** Not touched by the load, whose position is not known here. */
const checked = { ours: 'files/checked-ours', theirs: 'files/checked-theirs' } as const;

export function prepare(cleanup: Cleanup, scale: Scale): Promise<Contest> {
  return httpContest(cleanup, scale, {
    async fill(root) {
      await mkdir(join(root, 'files'));
      const names = [
        ...paths.flatMap((path) => [`${path}-ours`, `${path}-theirs`]),
        ...Object.values(checked),
      ];
      for (const name of names) await writeFile(join(root, name), first);
    },
    requests: (target, root, side) => paths.map((path) => thereAndBack(target, root, `${path}-${side}`)),
    async verify(target, root, side) {
      const requests = thereAndBack(target, root, checked[side]);
      for (const [index, content] of [second, first].entries()) {
        const { status, body } = await askOnce(target, requests[index] as Buffer);
        assert.equal(status, 200, body.toString());
        assert.equal(await readFile(join(root, checked[side]), 'utf8'), content);
      }
    },
  });
}

/** Saves the second text over the first, then the first over the second. */
function thereAndBack(target: Target, root: string, path: string): readonly Buffer[] {
  const save = (content: string, base: string): Buffer => {
    const baseSha1 = createHash('sha1').update(base).digest('hex');
    return requestBytes(target, 'POST', '/api/file', { body: { cwd: root, path, content, baseSha1 } });
  };
  return [save(second, first), save(first, second)];
}
