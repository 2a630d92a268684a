import { describe, expect, it } from 'vitest';
import { type AllowedDriver, pinnedKeys, settingsOfDrivers } from '../../src/git/allowed-drivers.ts';
import type { CommandUse } from '../../src/git/cleared-place.ts';
import { untrustedKeys } from '../../src/git/configuration-gate.ts';
import { fixedArguments } from '../../src/git/fixed-arguments.ts';
import { parseSettings, type Setting } from '../../src/git/setting.ts';
import { handlingOf, settingRules } from '../../src/git/setting-rules.ts';

function settings(...keys: readonly string[]): readonly Setting[] {
  const text = keys.map((key) => `local\0${key}\nx\0`).join('');
  return parseSettings(Buffer.from(text, 'latin1')) as readonly Setting[];
}

const uses: readonly CommandUse[] = ['facts', 'work-tree', 'merge', 'network'];

describe('the list of settings', () => {
  it('is read whole: values may hold newlines, subsections dots, and a key may have no value', () => {
    const output = Buffer.from('local\0a.B.c.d\nx\ny\0worktree\0core.bare\0command\0x.y\n\0');
    expect(parseSettings(output)).toEqual([
      { scope: 'local', section: 'a', subsection: 'B.c', variable: 'd', value: 'x\ny' },
      { scope: 'worktree', section: 'core', subsection: null, variable: 'bare', value: null },
      { scope: 'command', section: 'x', subsection: null, variable: 'y', value: '' },
    ]);
    expect(parseSettings(Buffer.alloc(0))).toEqual([]);
  });

  it.each(['local\0a.b\nx', 'local\0', 'local\0a\nx\0', 'local\0.b\nx\0', 'local\0a.\nx\0', '\0'])(
    'R04: %j is another form',
    (text) => expect(parseSettings(Buffer.from(text))).toBeNull(),
  );
});

describe('the table of settings', () => {
  it.each<[string, readonly CommandUse[]]>([
    ['core.filemode', []],
    ['core.unheardof', uses],
    ['filter.x.clean', ['work-tree', 'merge']],
    ['filter.x.y.z.clean', ['work-tree', 'merge']],
    ['filter.x.required', []],
    ['filter.x.unheardof', uses],
    ['filter.clean', uses],
    ['merge.x.driver', ['merge']],
    ['merge.ff', []],
    ['diff.x.command', []],
    ['diff.external', []],
    ['gpg.openpgp.program', []],
    ['gpg.other.program', uses],
    ['include.path', uses],
    ['includeif.gitdir:/x/.path', uses],
    ['hook.x.command', uses],
    ['core.worktree', uses],
    ['core.fsmonitor', []],
    ['core.sshcommand', ['network']],
    ['credential.helper', ['network']],
    ['credential.https://h.helper', ['network']],
    ['url.x.insteadof', ['network']],
    ['url.x.pushinsteadof', ['network']],
    ['http.proxy', ['network']],
    ['http.https://h/.sslverify', ['network']],
    ['http.postbuffer', []],
    ['remote.x.url', []],
    ['remote.x.receivepack', ['network']],
    ['remote.x.vcs', ['network']],
    ['remote.x.promisor', []],
    ['branch.x.merge', []],
    ['branch.x.mergeoptions', ['merge']],
    ['branch.x.vscode-merge-base', []],
    ['lfs.repositoryformatversion', []],
    ['lfs.customtransfer.x.path', ['work-tree', 'merge', 'network']],
    ['gitflow.branch.master', []],
    ['alias.status', []],
    ['submodule.x.update', []],
  ])('R20: %s is refused for %j', (key, refusedFor) => {
    expect(uses.filter((use) => untrustedKeys(settings(key), use).length > 0)).toEqual(refusedFor);
  });

  it('pins each key that it calls pinned, save those that the environment decides', () => {
    const fixed = new Set(
      fixedArguments.filter((word) => word.includes('=')).map((word) => word.split('=')[0]?.toLowerCase()),
    );
    const pinned = settingRules.flatMap(({ handling, keys }) => (handling === 'pinned' ? keys : []));
    expect(pinned.filter((key) => !fixed.has(key))).toEqual([
      'remote.*.promisor',
      'remote.*.partialclonefilter',
      'protocol.*.allow',
    ]);
  });

  it('names no key in two rows', () => {
    const keys = settingRules.flatMap((rule) => rule.keys);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  it('judges what stands in any file, and only our own settings not', () => {
    for (const scope of ['local', 'worktree', 'global', 'unknown']) {
      const found = settings('filter.x.clean').map((setting) => ({ ...setting, scope }));
      expect(untrustedKeys(found, 'work-tree')).toEqual(['filter.x.clean']);
    }
    const own = settings('filter.x.clean').map((setting) => ({ ...setting, scope: 'command' }));
    expect(untrustedKeys(own, 'work-tree')).toEqual([]);
  });

  it('tells a key once, without the address in it', () => {
    const found = settings(
      'credential.https://u:secret@h.helper',
      'url.git@h:.insteadof',
      'http.x',
      'http.x',
    );
    expect(untrustedKeys(found, 'network')).toEqual(['credential.*.helper', 'url.*.insteadof', 'http.x']);
  });

  it('knows no handling for a new key of an old section', () => {
    expect(handlingOf({ section: 'gpg', subsection: 'new', variable: 'program' })).toBeNull();
  });
});

describe('the drivers of the operator', () => {
  const program = { program: '/usr/bin/tool', words: ['clean', '--', '%f'] };

  it('are pinned word by word', () => {
    const drivers: readonly AllowedDriver[] = [
      { kind: 'filter', name: 'one', clean: program, smudge: { program: "/opt/it's", words: [] } },
      { kind: 'filter', name: 'two', process: { program: '/usr/bin/tool', words: ['a b'] } },
      { kind: 'merge', name: 'one', driver: { program: '/m', words: ['%O', '%A', '%B', '%L', '%P'] } },
    ];
    const pins = settingsOfDrivers(drivers);
    expect(pins).toEqual([
      `filter.one.clean='/usr/bin/tool' 'clean' '--' %f`,
      `filter.one.smudge='/opt/it'\\''s'`,
      'filter.one.required=true',
      'filter.two.clean=',
      'filter.two.smudge=',
      `filter.two.process='/usr/bin/tool' 'a b'`,
      'filter.two.required=true',
      `merge.one.driver='/m' %O %A %B %L %P`,
    ]);
    const found = settings(
      'filter.one.clean',
      'filter.one.process',
      'filter.two.process',
      'merge.one.driver',
    );
    expect(untrustedKeys(found, 'merge', pinnedKeys(pins))).toEqual(['filter.one.process']);
  });

  it.each<[string, AllowedDriver]>([
    ['a relative program', { kind: 'merge', name: 'x', driver: { program: 'tool', words: [] } }],
    ['a path with steps', { kind: 'merge', name: 'x', driver: { program: '/a/../b', words: [] } }],
    ['a name with a dot', { kind: 'merge', name: 'x.y', driver: program }],
    ['an empty name', { kind: 'filter', name: '', process: { program: '/a', words: [] } }],
    ['a placeholder of another kind', { kind: 'merge', name: 'x', driver: program }],
    ['a placeholder in a word', { kind: 'filter', name: 'x', process: { program: '/a', words: ['-%f'] } }],
    ['a NUL', { kind: 'filter', name: 'x', process: { program: '/a', words: ['a\0'] } }],
  ])('R20: %s is refused', (_, driver) => {
    expect(() => settingsOfDrivers([driver])).toThrow(TypeError);
  });

  it('may not be named twice', () => {
    const driver = { kind: 'filter', name: 'x', process: { program: '/a', words: [] } } as const;
    expect(() => settingsOfDrivers([driver, driver])).toThrow(TypeError);
  });
});
