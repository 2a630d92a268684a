import { describe, expect, it } from 'vitest';
import type { ClearedPlace } from '../../src/git/cleared-place.ts';
import { emptyTrees } from '../../src/git/empty-tree.ts';
import { fixedArguments } from '../../src/git/fixed-arguments.ts';
import type { PinnedPlace } from '../../src/git/pinned-place.ts';
import { readCommands } from '../../src/git/read-commands.ts';
import type { GitCommand } from '../../src/git/run-git.ts';
import {
  type CommitOid,
  parseCommitOid,
  parseLiteralPath,
  parseRefName,
  type RefName,
} from '../../src/git/values.ts';

const directory = '/proc/1/fd/5';
const pins = { gitDirectory: '/proc/1/fd/3', commonDirectory: '/proc/1/fd/4', workTree: directory };
const place: PinnedPlace = { directory, pins };
const cleared = { ...place, settings: ['filter.x.clean=y'] } as unknown as ClearedPlace<'work-tree'>;
const [one, two] = ['1', '2'].map((digit) => parseCommitOid(digit.repeat(40))) as [CommitOid, CommitOid];
const ref = parseRefName('refs/heads/-x') as RefName;
const path = parseLiteralPath(':(top)*');
const range = { tip: one, excluded: [two], limit: 7 };

/** Each row, with what stands behind the end of its options. */
const rows: readonly (readonly [GitCommand, readonly string[]])[] = [
  [readCommands.branches(place), ['refs/heads/', 'refs/remotes/origin/']],
  [readCommands.tracking(place, [ref]), [ref]],
  [readCommands.refTips(place, [ref, ref]), [ref, ref]],
  [readCommands.resolveCommit(place, 'HEAD'), ['HEAD^{commit}']],
  [readCommands.resolveCommit(place, ref), ['refs/heads/-x^{commit}']],
  [readCommands.treeOf(place, one), [`${one}^{tree}`]],
  [readCommands.mergeBase(place, one, two), [one, two]],
  [readCommands.isAncestor(place, one, two), [one, two]],
  [readCommands.divergence(place, one, two), [`${one}...${two}`, '--']],
  [readCommands.commitNames(place, range), [one, `^${two}`, '--']],
  [readCommands.commits(place, range), [one, `^${two}`, '--']],
  [readCommands.diffCommits(place, emptyTrees.sha1, two, { path }), [emptyTrees.sha1, two, '--', path]],
  [readCommands.diffWorkTree(cleared, two), [two, '--']],
  [readCommands.diffNumbers(cleared, two), [two, '--']],
  [readCommands.status(cleared, { ignored: true, path }), ['--', path]],
  [readCommands.untracked(cleared, { path }), ['--', path]],
];

describe('the commands that read', () => {
  it.each(rows.map(([command, data]) => [command.name, command, data] as const))(
    'R20: %s puts typed values behind the end of its options only',
    (_, command, data) => {
      const words = command.arguments.slice(fixedArguments.length);
      const end = words.findIndex((word) => word === '--end-of-options' || word === '--');
      expect(words.slice(words[end] === '--' ? end : end + 1)).toEqual(data);
      expect(command.arguments.slice(0, fixedArguments.length)).toEqual(fixedArguments);
    },
  );

  it.each([
    ...rows.map(([command]) => command),
    readCommands.configuration(place),
    readCommands.objectFormat(place),
  ])('R06: $name keeps to the held directories', (command) => {
    expect(command.directory).toBe(directory);
    expect(command.environment).toMatchObject({
      GIT_DIR: pins.gitDirectory,
      GIT_COMMON_DIR: pins.commonDirectory,
      GIT_WORK_TREE: pins.workTree,
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: '',
    });
  });

  it('the drivers of the operator go to commands that look at files', () => {
    for (const [command] of rows) {
      const looks = ['diff-work-tree', 'diff-numbers', 'status', 'untracked'].includes(command.name);
      expect(command.arguments.includes('filter.x.clean=y'), command.name).toBe(looks);
    }
  });

  it.each([0, -1, 1.5, Number.NaN, 100_001, Number.POSITIVE_INFINITY])('refuses %j for a limit', (limit) => {
    expect(() => readCommands.commits(place, { ...range, limit })).toThrow(RangeError);
  });

  it.each(['', 'x', '~/x', '/x\0'])('refuses %j for a file of ignore patterns', (excludesFile) => {
    expect(() => readCommands.status(cleared, { ignored: false, excludesFile })).toThrow(TypeError);
  });
});
