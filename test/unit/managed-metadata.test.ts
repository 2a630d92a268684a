import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredIdentity } from '../../src/capability/identity.ts';
import type { ManagedFacts } from '../../src/capability/managed-worktree-capability.ts';
import {
  type MetadataBinding,
  metadataPaths,
  parseOwnMetadata,
  parsePluginMetadata,
  printOwnMetadata,
} from '../../src/proof/managed-metadata.ts';

const seed = Number(process.env['WORKSPACE_AUTHORITY_SEED'] ?? Date.now() % 0x7fff_ffff);
const oid = 'c'.repeat(40);

const identity: StoredIdentity = {
  inode: `${2n ** 60n + 1n}`,
  fileSystemId: '-7',
  handle: '1:0102030405060708',
  birthTimeNs: null,
};
const binding: MetadataBinding = { root: identity, gitDirectory: { ...identity, inode: '5' } };

const facts: Omit<ManagedFacts, 'version'> = {
  intent: 'pr-checkout',
  branch: 'feature/ä',
  baseOid: oid,
  baseName: 'main',
  sourceTitle: 'Title',
  createdAtMs: 1_700_000_000_000,
};

/** All fields that any release of the plugin writes (wire contract 2). */
const plugin = {
  version: 1,
  baseRef: oid,
  baseRefName: 'main',
  intent: 'pr-checkout',
  branch: 'feature/ä',
  copiedFrom: '/srv/project',
  slug: 'project-feature',
  mainRepoRoot: '/srv/project',
  createdAt: 1_700_000_000_000,
  creationTxId: 'x',
  creationFingerprint: 'f'.repeat(64),
  pullNumber: 7,
  pullHeadRef: 'x',
  pullHost: 'github.com',
  prHeadSha: oid,
  upstream: 'origin/x',
  sourceWorkspaceTitle: 'Title',
  autoName: { status: 'ineligible', placeholder: 'x' },
};

function readPlugin(said: object) {
  return parsePluginMetadata(Buffer.from(JSON.stringify({ ...plugin, ...said })));
}

function readOwn(said: object) {
  const printed = JSON.parse(Buffer.from(printOwnMetadata(facts, '/srv/project', binding)).toString());
  return parseOwnMetadata(Buffer.from(JSON.stringify({ ...printed, ...said })));
}

describe('metadata of version 1', () => {
  it('R26: valid old metadata is read, with fields that nobody here needs', () => {
    expect(readPlugin({})).toEqual({
      facts: { version: 1, ...facts },
      mainRoot: '/srv/project',
      binding: null,
    });
  });

  it('R26: what the first releases did not write may be absent', () => {
    const { version, baseRef, baseRefName, intent, branch, mainRepoRoot, createdAt } = plugin;
    const first = { version, baseRef, baseRefName, intent, branch, mainRepoRoot, createdAt };
    const { facts: read } = parsePluginMetadata(Buffer.from(JSON.stringify(first)));
    expect(read).toEqual({ version: 1, ...facts, sourceTitle: null });
  });

  it.each([
    ['no commit that it was created from', { baseRef: null }, { baseOid: null }],
    ['no name of it', { baseRefName: null }, { baseName: null }],
    ['an object name of SHA-256', { baseRef: 'd'.repeat(64) }, { baseOid: 'd'.repeat(64) }],
    ['the other intents', { intent: 'checkout' }, { intent: 'checkout' }],
  ])('R26: %s', (_, said, expected) => {
    expect(readPlugin(said).facts).toEqual({ version: 1, ...facts, ...expected });
  });

  it.each<readonly [name: string, values: readonly unknown[]]>([
    ['version', [0, 2, '1', true, undefined, null]],
    ['intent', ['', 'Checkout', 'rebase', undefined, null, 1]],
    [
      'branch',
      ['', '-', '-b', 'a..b', 'a b', 'a\n', 'a/', '/a', 'a.lock', '@', 'x'.repeat(256), null, undefined],
    ],
    ['baseRef', ['', 'main', 'c'.repeat(39), 'c'.repeat(41), `${oid}\n`, undefined, 1]],
    ['baseRefName', ['', '-x', 'HEAD^', 'a:b', undefined, 1]],
    ['mainRepoRoot', ['', '.', 'a', '/', '/a/', '/a//b', '/a/../b', '/a/.', '/a\0', undefined, null, ['/a']]],
    ['createdAt', [-1, 1.5, 2 ** 53, '1', undefined, null]],
    ['sourceWorkspaceTitle', [1, 'x'.repeat(201), {}]],
  ])('R26: a bad %s is refused, and its value is not quoted', (name, values) => {
    for (const value of values) {
      expect(() => readPlugin({ [name]: value })).toThrow(new RegExp(`^metadata\\.${name} is not `));
    }
  });
});

describe('metadata of version 2', () => {
  it('is read as it was printed, exactly', () => {
    expect(readOwn({})).toEqual({ facts: { version: 2, ...facts }, mainRoot: '/srv/project', binding });
  });

  it.each<readonly [name: string, values: readonly unknown[]]>([
    ['version', [1, '2', undefined]],
    ['intent', ['x', undefined]],
    ['branch', ['-x', undefined]],
    ['baseOid', ['main', undefined]],
    ['baseName', ['-x', undefined]],
    ['sourceTitle', [1, 'x'.repeat(201), undefined]],
    ['createdAtMs', [-1, undefined]],
    ['mainRoot', ['x', '/x/', undefined]],
    ['root', [null, [], 'x', undefined]],
    ['gitDirectory', [null, undefined]],
  ])('R26: a bad %s is refused, and its value is not quoted', (name, values) => {
    for (const value of values) {
      expect(() => readOwn({ [name]: value })).toThrow(new RegExp(`^metadata\\.${name} is not `));
    }
  });

  it.each(['inode', 'fileSystemId', 'handle', 'birthTimeNs'])(
    'R26: an identity without %s is refused',
    (name) => {
      expect(() => readOwn({ root: { ...identity, [name]: undefined } })).toThrow(
        `metadata.root.${name} is not`,
      );
    },
  );

  it('R26: a field of unknown name is refused, here and in an identity', () => {
    expect(() => readOwn({ later: 1 })).toThrow('metadata has a field of unknown name');
    expect(() => readOwn({ root: { ...identity, later: 1 } })).toThrow('metadata.root has a field');
  });
});

describe('any metadata', () => {
  it('lies beside that of the other version', () => {
    expect(metadataPaths).toEqual({
      1: 'dsh-worktree/worktree.json',
      2: 'workspace-authority/worktree.json',
    });
  });

  it.each(['', ' ', '{', '[]', 'null', '1', '"x"', '{}{}', '{"version":1}', '\ufeff{}'])(
    'R26: %j is refused',
    (text) => {
      for (const parse of [parsePluginMetadata, parseOwnMetadata]) {
        expect(() => parse(Buffer.from(text))).toThrow(Error);
      }
    },
  );

  it('R26: one version is never read as the other', () => {
    expect(() => parseOwnMetadata(Buffer.from(JSON.stringify(plugin)))).toThrow('version');
    const own = printOwnMetadata(facts, '/srv/project', binding);
    expect(() => parsePluginMetadata(own)).toThrow('version');
  });

  it(`R26: cut off anywhere, it is refused (seed ${seed})`, () => {
    const printed = printOwnMetadata(facts, '/srv/project', binding);
    const whole = printed.length - 1;
    const property = fc.property(fc.nat(whole - 1), (length) => {
      expect(() => parseOwnMetadata(printed.subarray(0, length))).toThrow(Error);
    });
    fc.assert(property, { seed });
  });

  it(`whatever is printed is read back (seed ${seed})`, () => {
    const record = fc.record({
      intent: fc.constantFrom('checkout' as const, 'branch-off' as const, 'pr-checkout' as const),
      branch: fc.stringMatching(/^[a-z][a-z0-9/]{0,20}[a-z]$/).filter((name) => !name.includes('//')),
      baseOid: fc.option(fc.constant(oid)),
      baseName: fc.option(fc.constant('main')),
      sourceTitle: fc.option(fc.string({ maxLength: 200 })),
      createdAtMs: fc.maxSafeNat(),
    });
    const property = fc.property(record, (said) => {
      const read = parseOwnMetadata(printOwnMetadata(said, '/r', binding));
      expect(read.facts).toEqual({ version: 2, ...said });
    });
    fc.assert(property, { seed });
  });
});
