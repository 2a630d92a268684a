import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest, Scale } from '../harness/trial.ts';
import { askOnce, httpContest } from '../http/http-contest.ts';
import { queryPath, requestBytes, type Target } from '../http/request-bytes.ts';
import { pathAtDepth, writeRandomFile } from '../sides/scratch.ts';

const path = pathAtDepth(5, 'file');
const connections = 16;

export function prepare(cleanup: Cleanup, scale: Scale): Promise<Contest> {
  return httpContest(cleanup, scale, {
    fill: (root) => writeRandomFile(root, path, 4096),
    requests: (target, root) => Array.from({ length: connections }, () => [read(target, root)]),
    async verify(target, root) {
      const { status, body } = await askOnce(target, read(target, root));
      assert.equal(status, 200);
      assert.equal(JSON.parse(body.toString()).content, await readFile(join(root, path), 'utf8'));
    },
  });
}

function read(target: Target, root: string): Buffer {
  return requestBytes(target, 'GET', queryPath('/api/file', { cwd: root, path }));
}
