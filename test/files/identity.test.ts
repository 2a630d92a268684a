import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileCapability } from '../../src/capability/file-capability.ts';
import { mintFileCapability } from '../../src/capability/mint.ts';
import { AuthorityError } from '../../src/errors/index.ts';
import { versionOf } from '../../src/files/content-version.ts';
import { base, changes as fileChanges } from '../support/file-changes.ts';
import {
  beneath,
  openWorkspace,
  outcomeOf,
  refusalOf,
  text,
  type Workspace,
} from '../support/files-workspace.ts';
import { mayMount, mountTmpfs, unmount } from '../support/mounts.ts';
import { testBinding } from '../support/test-binding.ts';
import { makeTree, readTree } from '../support/tree.ts';

const changes = {
  ...fileChanges,
  recover: ({ files, capability }: Workspace) => files.recover(capability),
} as const;

/** What may happen to the name of a root while it is held. */
const rebindings = {
  'renamed away': async (root: string) => rename(root, `${root}-moved`),
  'replaced by another directory': async (root: string) => {
    await rename(root, `${root}-moved`);
    await makeTree(root, ['f: old', 'empty/']);
  },
  'replaced by a link to itself': async (root: string) => {
    await rename(root, `${root}-moved`);
    await symlink(`${root}-moved`, root);
  },
  'replaced by a link to another directory': async (root: string) => {
    await rename(root, `${root}-moved`);
    await makeTree(`${root}-other`, ['f: old', 'empty/']);
    await symlink(`${root}-other`, root);
  },
  'replaced by a file': async (root: string) => {
    await rename(root, `${root}-moved`);
    await writeFile(root, 'x');
  },
  'moved with its parent': async (root: string) => {
    await rename(dirname(root), `${dirname(root)}-moved`);
    await makeTree(root, ['f: old', 'empty/']);
  },
} as const;

const cases = Object.keys(rebindings).flatMap((rebinding) =>
  Object.keys(changes).map((change) => [change, rebinding] as const),
) as readonly (readonly [keyof typeof changes, keyof typeof rebindings])[];

async function openNested(): Promise<Workspace> {
  const workspace = await openWorkspace();
  const root = join(workspace.root, 'parent', 'root');
  await makeTree(root, ['f: old', 'empty/']);
  return openWorkspace({ root });
}

describe('a root that lost its name', () => {
  it.each(cases)(
    'R05, R06: %s is refused when the root was %s, and nothing changes anywhere',
    async (change, rebinding) => {
      const workspace = await openNested();
      await rebindings[rebinding](workspace.root);
      const everything = dirname(dirname(workspace.root));
      const before = await readTree(everything);
      const refusal = await refusalOf(changes[change](workspace));
      expect([refusal.code, refusal.details['what']]).toEqual(['identity_changed', 'root']);
      expect(await readTree(everything)).toEqual(before);
    },
  );

  it.each(Object.keys(rebindings) as readonly (keyof typeof rebindings)[])(
    'R05: a read gives bytes of the held root or refuses, never those of what stands there now: %s',
    async (rebinding) => {
      const workspace = await openNested();
      const { files, capability, root } = workspace;
      await writeFile(join(root, 'f'), 'held');
      await files.read(capability, beneath('f'));
      await rebindings[rebinding](root);
      const read = files.read(capability, beneath('f')).then(({ bytes }) => `${Buffer.from(bytes)}`);
      expect(['held', 'identity_changed']).toContain(await read.catch((error) => error.code));
      expect(await outcomeOf(files.list(capability, null))).toBe('identity_changed');
      expect(await outcomeOf(files.open(capability, beneath('f')))).toBe('identity_changed');
    },
  );

  it.skipIf(!mayMount)('R05, R06: a root that was unmounted while it is held is refused', async () => {
    const outer = await openWorkspace({ tree: ['mounted/f: below'] });
    const root = join(outer.root, 'mounted');
    await mountTmpfs(root);
    await makeTree(root, ['f: old', 'empty/']);
    const workspace = await openWorkspace({ root });
    expect(await outcomeOf(workspace.files.read(workspace.capability, beneath('f')))).toBe('ok');
    await unmount(root);
    for (const change of Object.values(changes)) {
      expect(await outcomeOf(change(workspace))).toBe('identity_changed');
    }
    expect(await readTree(root)).toEqual(['f: below']);
  });

  it('R05: a root that came back under its name is itself again', async () => {
    const workspace = await openNested();
    await rename(workspace.root, `${workspace.root}-moved`);
    expect(await outcomeOf(changes.replace(workspace))).toBe('identity_changed');
    await rename(`${workspace.root}-moved`, workspace.root);
    expect(await outcomeOf(changes.replace(workspace))).toBe('ok');
  });
});

describe('proving again', () => {
  /** A capability whose proof counts how often it is asked, and fails at one of the times. */
  function counting(
    { held }: Workspace,
    failAt: number,
  ): { capability: FileCapability; asked: () => number } {
    let asked = 0;
    const capability = mintFileCapability({
      kind: 'workspace',
      gitBoundary: 'none',
      held: held.retain(),
      assertCurrent: async () => {
        asked += 1;
        if (asked === failAt) throw new AuthorityError('workspace_not_authorized');
      },
    });
    return { capability, asked: () => asked };
  }

  it.each(Object.keys(changes) as readonly (keyof typeof changes)[])(
    'R06: %s asks after each wait and right before the commit point, and a refusal there changes nothing',
    async (change) => {
      const workspace = await openWorkspace({ tree: ['f: old', 'empty/'] });
      const before = await workspace.tree();
      // What is read without waiting needs no second proof; a recovery has only one moment.
      const times = ['replace', 'remove', 'recover'].includes(change) ? [1] : [1, 2];
      for (const failAt of times) {
        const { capability } = counting(workspace, failAt);
        await using disposed = capability;
        expect(await outcomeOf(changes[change]({ ...workspace, capability: disposed }))).toBe(
          'workspace_not_authorized',
        );
        expect(await workspace.tree()).toEqual(before);
      }
    },
  );

  it.each(['replace', 'remove'] as const)(
    'R06: %s asks once more when it had to wait for the content of its base',
    async (change) => {
      const large = 'x'.repeat(100_000);
      const workspace = await openWorkspace({ tree: [`f: ${large}`] });
      for (const failAt of [1, 2]) {
        const { capability } = counting(workspace, failAt);
        await using disposed = capability;
        const version = { sha1: versionOf(text(large)).sha1 };
        const { files } = workspace;
        const changing =
          change === 'replace'
            ? files.replace(disposed, beneath('f'), text('new'), version)
            : files.remove(disposed, beneath('f'), version);
        expect(await outcomeOf(changing)).toBe('workspace_not_authorized');
        expect(await workspace.tree()).toEqual([`f: ${large}`]);
      }
    },
  );

  it('R06: what happens while a change waits for its turn is seen when the turn comes', async () => {
    const workspace = await openNested();
    const { gate, root } = workspace;
    let release: () => void = () => undefined;
    const held = gate.run([`file:${root}/f`], () => new Promise<void>((resolve) => (release = resolve)));
    const waiting = outcomeOf(changes.replace(workspace));
    await expect.poll(() => gate.depth(`file:${root}/f`)).toBe(2);
    await rename(root, `${root}-moved`);
    release();
    await held;
    expect(await waiting).toBe('identity_changed');
    expect(await readFile(`${root}-moved/f`, 'utf8')).toBe('old');
  });
});

describe('a held capability', () => {
  it('R06: keeps its root open while operations run, whoever disposes it meanwhile', async () => {
    const workspace = await openWorkspace({ tree: ['f: old'] });
    const { files, held } = workspace;
    const capability = mintFileCapability({
      kind: 'workspace',
      gitBoundary: 'none',
      held: held.retain(),
      assertCurrent: async () => {},
    });
    const replacing = files.replace(capability, beneath('f'), text('new'), base);
    await capability[Symbol.asyncDispose]();
    expect(await outcomeOf(replacing)).toBe('ok');
    for (const use of [
      files.read(capability, beneath('f')),
      files.list(capability, null),
      files.replace(capability, beneath('f'), text('x'), base),
      capability.assertCurrent(),
    ]) {
      expect(await outcomeOf(use)).toBe('internal_error');
    }
    expect(() => capability.retain()).toThrow(expect.objectContaining({ code: 'internal_error' }));
    expect(() => capability.held).toThrow(expect.objectContaining({ code: 'internal_error' }));
  });

  it('is counted: the root closes with the last of its references, and disposing one twice counts once', async () => {
    const open = testBinding.openHandles();
    const workspace = await openWorkspace({ tree: ['f: old'] });
    const second = workspace.capability.retain();
    await workspace.capability[Symbol.asyncDispose]();
    await workspace.capability[Symbol.asyncDispose]();
    expect(await outcomeOf(workspace.files.read(second, beneath('f')))).toBe('ok');
    await second[Symbol.asyncDispose]();
    expect(() => workspace.held.directory).toThrow(expect.objectContaining({ code: 'internal_error' }));
    expect(testBinding.openHandles()).toBe(open);
  });

  it('R02: an object that only looks like one is refused', async () => {
    const { files, capability, held, tree } = await openWorkspace({ tree: ['f: old'] });
    const forged: FileCapability = {
      kind: 'workspace',
      gitBoundary: 'root',
      root: capability.root,
      held,
      assertCurrent: async () => {},
      retain: () => forged,
      [Symbol.asyncDispose]: async () => {},
    };
    const prototype: FileCapability = Object.create(capability);
    for (const fake of [forged, prototype]) {
      expect(await outcomeOf(files.read(fake, beneath('f')))).toBe('internal_error');
      expect(await outcomeOf(files.create(fake, beneath('g'), text('x')))).toBe('internal_error');
    }
    expect(await tree()).toEqual(['f: old']);
  });
});

describe('a parent that moves', () => {
  it('R10: a change whose directory was swapped for a link is refused and nothing outside changes', async () => {
    const { files, capability, root, outside } = await openWorkspace({
      tree: ['d/f: old'],
      outside: ['f: old'],
    });
    await files.read(capability, beneath('d/f'));
    await rename(join(root, 'd'), join(root, 'e'));
    await symlink(outside, join(root, 'd'));
    expect(await outcomeOf(files.replace(capability, beneath('d/f'), text('new'), base))).toBe(
      'path_outside_workspace',
    );
    expect(await readFile(join(outside, 'f'), 'utf8')).toBe('old');
    await rm(join(root, 'd'));
    await mkdir(join(root, 'd'));
    expect(await outcomeOf(files.replace(capability, beneath('d/f'), text('new'), base))).toBe('not_found');
  });
});
