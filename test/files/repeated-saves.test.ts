import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/files/content-version.ts';
import { beneath, openWorkspace, outcomeOf, refusalOf, text } from '../support/files-workspace.ts';

type Meanwhile = (root: string) => Promise<void>;

const rewrite =
  (content: string): Meanwhile =>
  async (root) => {
    await writeFile(join(root, 'other'), content);
    await rename(join(root, 'other'), join(root, 'd/f'));
  };
const inPlace =
  (content: string): Meanwhile =>
  (root) =>
    writeFile(join(root, 'd/f'), content);
const removed: Meanwhile = (root) => unlink(join(root, 'd/f'));

const meanwhile: readonly (readonly [what: string, act: Meanwhile, outcome: string, tree: string])[] = [
  ['nothing happens', async () => {}, 'ok', 'd/f: second'],
  ['the same content arrives as another file', rewrite('first'), 'ok', 'd/f: second'],
  ['the same content is written in place', inPlace('first'), 'ok', 'd/f: second'],
  ['other content arrives as another file', rewrite('else'), 'conflict', 'd/f: else'],
  ['other content is written in place', inPlace('tsrif'), 'conflict', 'd/f: tsrif'],
  ['the file goes', removed, 'not_found', 'd/'],
  [
    'a link takes its place',
    async (root) => {
      await removed(root);
      await symlink('../g', join(root, 'd/f'));
    },
    'symlink_not_writable',
    'd/f -> ../g',
  ],
  [
    'a directory takes its place',
    async (root) => {
      await removed(root);
      await mkdir(join(root, 'd/f'));
    },
    'not_regular_file',
    'd/f/',
  ],
  [
    'a link out takes the place of its directory',
    async (root) => {
      await rm(join(root, 'd'), { recursive: true });
      await symlink('/', join(root, 'd'));
    },
    'path_outside_workspace',
    'd -> /',
  ],
];

/** The lines of the whole tree, with `d` itself before what is in it. */
function treeWith(line: string): string[] {
  return [...(line.startsWith('d/') && line !== 'd/' ? ['d/'] : []), line, 'g: good'];
}

describe('a save that follows a save of this process', () => {
  it.each(meanwhile)(
    'R13, R14: is judged by what stands there when %s',
    async (_, act, outcome, expected) => {
      const { files, capability, root, tree: now } = await openWorkspace({ tree: ['d/f: old', 'g: good'] });
      const replace = (content: string, sha1: string) =>
        files.replace(capability, beneath('d/f'), text(content), { sha1 });
      const first = await replace('first', versionOf(text('old')).sha1);
      await act(root);
      expect(await outcomeOf(replace('second', first.sha1))).toBe(outcome);
      expect(await now()).toEqual(treeWith(expected));
    },
  );

  it.each(meanwhile)('R13, R14: and so is a removal when %s', async (_, act, outcome, expected) => {
    const { files, capability, root, tree: now } = await openWorkspace({ tree: ['d/f: old', 'g: good'] });
    const base = { sha1: versionOf(text('old')).sha1 };
    const { sha1 } = await files.replace(capability, beneath('d/f'), text('first'), base);
    await act(root);
    expect(await outcomeOf(files.remove(capability, beneath('d/f'), { sha1 }))).toBe(outcome);
    expect(await now()).toEqual(treeWith(outcome === 'ok' ? 'd/' : expected));
  });

  it('R13: that names the version before it is stale, and is told which one stands', async () => {
    const { files, capability } = await openWorkspace({ tree: ['f: old'] });
    const { sha1 } = versionOf(text('old'));
    const replace = (content: string) => files.replace(capability, beneath('f'), text(content), { sha1 });
    await replace('first');
    expect((await refusalOf(replace('second'))).details).toEqual({ ...versionOf(text('first')), kept: [] });
  });
});
