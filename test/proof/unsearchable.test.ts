import { execFile } from 'node:child_process';
import { chmod, chown, cp, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makePlace } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { testAddonPath } from '../support/test-binding.ts';

const run = promisify(execFile);
const nobody = 65_534;
const program = join(import.meta.dirname, '../support/unprivileged-authority.mjs');

async function giveAway(path: string): Promise<void> {
  await chown(path, nobody, nobody);
  if (!(await lstat(path)).isDirectory()) return;
  for (const name of await readdir(path)) await giveAway(join(path, name));
}

/** What an authority of a user without privileges answers to the selectors; it knows one row, that of `main`. */
async function outcomesOf(place: string, main: string, selectors: readonly string[]): Promise<string[]> {
  const addon = join(place, 'addon.node');
  await cp(testAddonPath, addon);
  await chmod(addon, 0o755);
  const words = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', process.execPath, program];
  const { stdout } = await run('setpriv', [...words, addon, main, JSON.stringify(selectors)]);
  return JSON.parse(stdout);
}

describe.skipIf(process.getuid?.() !== 0)('directories that this server may open but not search', () => {
  it('R30, R34: look like directories that are not there, unless a registered main checkout lists them', async () => {
    const place = await makePlace();
    onTestFinished(() => rm(place, { recursive: true, force: true }));
    await chmod(place, 0o755);
    const at = (name: string) => join(place, name);
    await makeRepository(at('main'));
    for (const name of ['tree', 'closed-tree']) {
      await git(at('main'), 'worktree', 'add', '-q', '--detach', at(name));
    }
    await mkdir(at('plain'));
    await mkdir(at('closed'));
    await writeFile(at('closed/.git'), `gitdir: ${at('main/.git/worktrees/tree')}\n`);
    await mkdir(at('closed/sub'));
    for (const name of ['main', 'tree', 'closed-tree', 'plain', 'closed']) await giveAway(at(name));
    for (const name of ['closed', 'closed-tree']) await chmod(at(name), 0o400);

    const hidden = ['absent', 'plain', 'closed', 'closed/sub', 'closed/absent', 'closed-tree'].map(at);
    const [tree, ...outcomes] = await outcomesOf(place, at('main'), [at('tree'), ...hidden]);
    expect(tree).toBe('linked-worktree');
    expect(new Set(outcomes)).toEqual(new Set(['workspace_not_authorized {}']));
  });
});
