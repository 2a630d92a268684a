import { describe, expect, it } from 'vitest';
import type { ClearedPlace } from '../../src/git/cleared-place.ts';
import { fixedArguments } from '../../src/git/fixed-arguments.ts';
import { assertNetworkAccess } from '../../src/git/network-access.ts';
import type { PinnedPlace } from '../../src/git/pinned-place.ts';
import type { GitCommand } from '../../src/git/run-git.ts';
import {
  type CommitOid,
  parseCommitMessage,
  parseCommitOid,
  parseRefName,
  parseRemoteName,
} from '../../src/git/values.ts';
import { writeCommands } from '../../src/git/write-commands.ts';

const directory = '/proc/1/fd/5';
const pins = { gitDirectory: '/proc/1/fd/3', commonDirectory: '/proc/1/fd/4', workTree: directory };
const place: PinnedPlace = { directory, pins };
const cleared = { ...place, settings: ['filter.x.clean=y'] } as unknown as ClearedPlace<'work-tree'>;
const mergeable = cleared as unknown as ClearedPlace<'merge'>;
const reachable = { ...place, settings: [] } as unknown as ClearedPlace<'network'>;
const [one, two] = ['1', '2'].map((digit) => parseCommitOid(digit.repeat(40))) as [CommitOid, CommitOid];
const identity = { name: 'A', email: 'a@example.invalid' };
const message = present(parseCommitMessage('--amend'));
const remote = present(parseRemoteName('origin'));
const branch = present(parseRefName('refs/heads/main'));
const access = {
  protocols: ['https', 'ssh'],
  ssh: { authenticationSocket: '/run/agent', knownHostsFile: '/etc/hosts-of-ssh' },
  credentialHelper: '/usr/lib/helper',
} as const;

const commands: readonly GitCommand[] = [
  writeCommands.stage(cleared, ['-A', ':(top)*', 'a\nb']),
  writeCommands.writeTree(place),
  writeCommands.commitTree(place, { tree: one, parents: [two], message, identity }),
  writeCommands.updateRef(place, { ref: branch, next: one, previous: null, identity }),
  writeCommands.endMerge(place),
  writeCommands.mergeTree(mergeable, one, two),
  writeCommands.refreshIndex(mergeable),
  writeCommands.checkOut(mergeable, one, two),
  writeCommands.startMerge(mergeable, { theirs: two, message, identity }),
  writeCommands.fetch(reachable, remote, access),
  writeCommands.push(reachable, remote, branch, access),
  writeCommands.setIndex(place, [
    { path: '-d', entry: { mode: '100644', oid: one }, like: one },
    { path: '-d/x\n', entry: null, like: one },
  ]),
  writeCommands.checkOutIndex(cleared, ['--all', 'a\nb']),
  writeCommands.unpackObjects(place, Buffer.from('PACK')),
];
const [stage, , commitTree, updateRef, , , , , startMerge, fetch, push] = commands as [
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
  GitCommand,
];

describe('the commands that change', () => {
  it.each(commands)('R06: $name keeps to the held directories, and may take locks', (command) => {
    expect(command.arguments.slice(0, fixedArguments.length)).toEqual(fixedArguments);
    expect(command.directory).toBe(directory);
    expect(command.environment).toMatchObject({
      GIT_DIR: pins.gitDirectory,
      GIT_COMMON_DIR: pins.commonDirectory,
      GIT_WORK_TREE: pins.workTree,
      GIT_OPTIONAL_LOCKS: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    });
  });

  it('R20: entries of the index go by standard input, those that make room first', () => {
    const [setIndex, checkOutIndex] = commands.slice(-3) as [GitCommand, GitCommand];
    expect(Buffer.from(setIndex.input ?? []).toString()).toBe(
      `0 ${'0'.repeat(40)}\t-d/x\n\u0000100644 ${one}\t-d\0`,
    );
    expect(Buffer.from(checkOutIndex.input ?? []).toString()).toBe('--all\0a\nb\0');
    expect(checkOutIndex.arguments).not.toContain('--force');
  });

  it('R20: paths, messages and refs go by standard input', () => {
    expect(Buffer.from(stage.input ?? []).toString()).toBe('-A\0:(top)*\0a\nb\0');
    expect(stage.arguments).toContain('filter.x.clean=y');
    expect(Buffer.from(commitTree.input ?? []).toString()).toBe('--amend');
    expect(commitTree.arguments).not.toContain('--amend');
    expect(Buffer.from(updateRef.input ?? []).toString()).toBe(
      `update refs/heads/main\0${one}\0${'0'.repeat(40)}\0`,
    );
  });

  it('W46: a fetch that nobody asked for says so, and is like any other else', () => {
    const unasked = writeCommands.fetch(reachable, remote, access, 'backgroundFetch');
    const { background, ...rest } = unasked;
    expect([background, fetch.background]).toEqual([true, undefined]);
    expect(rest).toEqual(fetch);
  });

  it('R20: only those that name a person in what they write are told who it is', () => {
    const told = commands.filter(({ environment }) => environment['GIT_COMMITTER_EMAIL'] !== undefined);
    expect(told.map(({ name }) => name)).toEqual(['commit-tree', 'update-ref', 'merge']);
  });

  it('R22: a merge stops before its commit, and no setting makes another of it', () => {
    const words = startMerge.arguments.slice(startMerge.arguments.indexOf('merge'));
    const pinned = [
      '--no-commit',
      '--no-ff',
      '--no-squash',
      '--no-autostash',
      '--no-verify',
      '--strategy=ort',
    ];
    expect(words).toEqual(expect.arrayContaining(pinned));
    expect(words.slice(-3)).toEqual(['--message=--amend', '--end-of-options', two]);
  });

  it('W47: those that speak to another machine, and no other, wait in a queue of their own', () => {
    expect(commands.filter(({ network }) => network).map(({ name }) => name)).toEqual(['fetch', 'push']);
    for (const { name, environment } of commands) {
      const speaks = name === 'fetch' || name === 'push';
      expect(environment['GIT_ALLOW_PROTOCOL'], name).toBe(speaks ? 'https:ssh' : '');
      expect(environment['SSH_AUTH_SOCK'], name).toBe(speaks ? '/run/agent' : undefined);
    }
  });

  it('W12: push and fetch say which refs they mean, after the end of their options', () => {
    const refspecsOf = ({ arguments: words }: GitCommand) =>
      words.slice(words.indexOf('--end-of-options') + 1);
    expect(refspecsOf(push)).toEqual(['origin', 'refs/heads/main:refs/heads/main']);
    expect(refspecsOf(fetch)).toEqual(['origin', '+refs/heads/*:refs/remotes/origin/*']);
    for (const word of ['--no-force', '--no-follow-tags', '--no-verify', 'remote.origin.mirror=false']) {
      expect(push.arguments).toContain(word);
    }
  });

  it('W16: ssh believes the hosts of the operator only, and the helper of the operator is the last one', () => {
    const settings = push.arguments.filter((_, index) => push.arguments[index - 1] === '-c');
    const last = (key: string) => settings.findLast((setting) => setting.startsWith(`${key}=`));
    expect(last('credential.helper')).toBe('credential.helper=/usr/lib/helper');
    expect(last('core.sshCommand')).toContain('-F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=yes');
    expect(last('core.sshCommand')).toContain('UserKnownHostsFile=/etc/hosts-of-ssh');
  });

  it.each(['helper', '/a b', '/a;b', '/$(x)', '/a\nb', "/a'b"])(
    'W16: %j is no program of the operator',
    (path) => {
      expect(() => assertNetworkAccess({ credentialHelper: path })).toThrow(TypeError);
      const ssh = { authenticationSocket: '/run/agent', knownHostsFile: path };
      expect(() => assertNetworkAccess({ ssh })).toThrow(TypeError);
    },
  );
});

function present<Value>(value: Value | null): Value {
  if (value === null) throw new Error('refused');
  return value;
}
