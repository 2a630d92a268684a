import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';

const program = `
const { Repository } = require(process.argv[1]);
Repository.openExt(process.argv[2], 1, '').then((repository) => {
  console.log(JSON.stringify([repository.workdir(), repository.isBare()]));
});`;

it('nodegit is built for this Node, loads, and opens a repository that Git made', () => {
  const state = nodegitState();
  expect(state).toMatchObject({ state: 'ready' });
  if (state.state !== 'ready') return;
  const repository = realpathSync(mkdtempSync(join(tmpdir(), 'wa-nodegit-')));
  try {
    execFileSync('git', ['init', '--quiet', repository]);
    const child = spawnSync(process.execPath, ['-e', program, state.path, repository], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: repository },
    });
    expect(child.stderr).toBe('');
    expect(JSON.parse(child.stdout)).toEqual([`${repository}/`, 0]);
  } finally {
    rmSync(repository, { recursive: true });
  }
});
