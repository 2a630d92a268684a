import { execFileSync } from 'node:child_process';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { emptyTrees } from '../../src/git/empty-tree.ts';
import { pinnedPlace } from '../../src/git/pinned-place.ts';
import { readCommands } from '../../src/git/read-commands.ts';
import { parseSettings } from '../../src/git/setting.ts';
import { handlingOf, settingRules } from '../../src/git/setting-rules.ts';
import {
  type CommitOid,
  parseCommitOid,
  parseLiteralPath,
  parseRefName,
  type RefName,
} from '../../src/git/values.ts';
import { git } from '../support/git.ts';
import { commitFile, createGitLab, type GitLab } from './git-lab.ts';
import { commitOf, factCommands, outputOf, workTreeCommands } from './run-reads.ts';

let lab: GitLab;

beforeAll(async () => {
  lab = await createGitLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

async function workTreePlace(path: string) {
  return createConfigurationGate(lab.git).clear(await lab.hold(path), 'work-tree');
}

async function printed(command: Parameters<typeof outputOf>[1]): Promise<string> {
  return (await outputOf(lab.git, command)).toString();
}

/** Everything the reads print, by the order of the rows. */
async function answers(path: string): Promise<readonly string[]> {
  const capability = await lab.hold(path);
  const facts = await factCommands(lab.git, capability);
  const files = await workTreeCommands(lab.git, await workTreePlace(path));
  const texts: string[] = [];
  for (const command of [...facts, ...files]) texts.push(await printed(command));
  return texts;
}

/** What a person may have set for the eyes, and what would hide or rename something from a program. */
const tastes = [
  ['color.ui', 'always'],
  ['color.diff', 'always'],
  ['core.abbrev', '5'],
  ['core.quotePath', 'true'],
  ['diff.mnemonicPrefix', 'true'],
  ['diff.noprefix', 'true'],
  ['diff.context', '0'],
  ['diff.interHunkContext', '9'],
  ['diff.algorithm', 'patience'],
  ['diff.orderFile', '/dev/stdin'],
  ['diff.relative', 'true'],
  ['diff.submodule', 'log'],
  ['diff.renames', 'false'],
  ['diff.renameLimit', '1'],
  ['diff.indentHeuristic', 'false'],
  ['diff.suppressBlankEmpty', 'true'],
  ['diff.wsErrorHighlight', 'all'],
  ['diff.colorMoved', 'zebra'],
  ['diff.ignoreSubmodules', 'all'],
  ['diff.autoRefreshIndex', 'true'],
  ['status.showUntrackedFiles', 'no'],
  ['status.relativePaths', 'false'],
  ['status.renames', 'copies'],
  ['status.branch', 'false'],
  ['status.short', 'true'],
  ['status.showStash', 'true'],
  ['status.aheadBehind', 'false'],
  ['log.date', 'relative'],
  ['log.decorate', 'full'],
  ['log.abbrevCommit', 'true'],
  ['log.showRoot', 'false'],
  ['log.follow', 'true'],
  ['log.diffMerges', 'on'],
  ['format.pretty', 'fuller'],
  ['i18n.logOutputEncoding', 'ISO-8859-1'],
  ['notes.displayRef', '*'],
] as const;

describe('the reads', () => {
  it('W7, W30: print the same bytes whatever is set for the eyes', async () => {
    const path = await lab.makeRepository('tastes');
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\n\n`).join('');
    await commitFile(path, 'änd', lines);
    await git(path, 'mv', 'änd', 'ünd');
    await commitFile(path, 'ünd', lines.replace('line 3\n', 'drei\n').replace('line 9\n', 'neun\n'));
    await git(path, 'notes', 'add', '-m', 'a note');
    await writeFile(join(path, 'new'), 'untracked\n');
    await git(path, 'stash', 'push', '-q', '--', 'k');
    await writeFile(join(path, 'k'), 'ten\n');
    const before = await answers(path);
    for (const [key, value] of tastes) await git(path, 'config', key, value);
    expect(await answers(path)).toEqual(before);
    expect(before.some((text) => text.includes('? new\0'))).toBe(true);
    expect(before.some((text) => / R\d{3}\0änd\0ünd\0/.test(text))).toBe(true);
  });

  it('R20: names that look like options, patterns and revisions are only names', async () => {
    const path = await lab.makeRepository('names');
    const names = [
      '-x',
      '--',
      '--output=made',
      ':(top)k',
      ':!k',
      '*',
      '[k]',
      'HEAD',
      'a b/c',
      'new\nline',
      '"q"',
    ];
    await mkdir(join(path, 'a b'));
    for (const name of names) await commitFile(path, name, 'old\n');
    for (const name of names) await writeFile(join(path, name), 'new\n');
    const place = await workTreePlace(path);
    const head = await commitOf(lab.git, place, 'HEAD');
    for (const name of names) {
      const literal = parseLiteralPath(name);
      const diff = await printed(readCommands.diffWorkTree(place, head, { path: literal }));
      expect(diff.split('\0\0')[0]?.split('\0').slice(1), name).toEqual([name]);
      const status = await printed(readCommands.status(place, { ignored: false, path: literal }));
      const listed = status.split('\0').filter((record) => record !== '' && !record.startsWith('# '));
      expect(listed, name).toEqual([expect.stringMatching(/^1 \.M /)]);
      expect(listed[0]?.endsWith(` ${name}`), name).toBe(true);
    }
    await expect(readFile(join(path, 'made'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('R20, W39: a branch is found by its full name beside a tag and a file of that name', async () => {
    const path = await lab.makeRepository('tagged');
    await git(path, 'tag', '-a', '-m', 'tag', 'other', 'main');
    await git(path, 'update-ref', 'refs/heads/-x', 'main~1');
    await commitFile(path, 'other', 'x\n');
    const place = pinnedPlace(await lab.hold(path));
    const oidOf = async (name: string) => (await git(path, 'rev-parse', name)).trim();
    const commit = (name: string) => commitOf(lab.git, place, parseRefName(name) as RefName);
    expect(await commit('refs/heads/other')).toBe(await oidOf('refs/heads/other'));
    expect(await commit('refs/tags/other')).toBe(await oidOf('refs/tags/other^{commit}'));
    expect(await commit('refs/heads/-x')).toBe(await oidOf('refs/heads/main~2'));
  });

  it('what is not there is an exit status, not a guess', async () => {
    const path = await lab.makeRepository('absent');
    await git(path, 'checkout', '-q', '--orphan', 'alone');
    await git(path, 'commit', '-q', '--allow-empty', '-m', 'alone');
    const place = pinnedPlace(await lab.hold(path));
    const alone = await commitOf(lab.git, place, 'HEAD');
    const main = await commitOf(lab.git, place, parseRefName('refs/heads/main') as RefName);
    const nowhere = parseCommitOid('1'.repeat(40)) as CommitOid;
    const blob = parseCommitOid((await git(path, 'rev-parse', 'main:k')).trim()) as CommitOid;
    const exits = [
      readCommands.resolveCommit(place, nowhere),
      readCommands.resolveCommit(place, blob),
      readCommands.resolveCommit(place, parseRefName('refs/heads/none') as RefName),
      readCommands.mergeBase(place, alone, main),
      readCommands.isAncestor(place, alone, main),
    ].map(async (command) => (await lab.git.run(command)).exitCode);
    expect(await Promise.all(exits)).toEqual([1, 1, 1, 1, 1]);
    expect(await printed(readCommands.divergence(place, alone, main))).toBe('1\t3\n');
  });

  it('the empty tree has the name that we know, in both formats', async () => {
    for (const format of ['sha1', 'sha256'] as const) {
      const path = join(lab.place, format);
      await git(lab.place, 'init', '-q', `--object-format=${format}`, path);
      const tree = await git(path, 'hash-object', '-t', 'tree', '/dev/null');
      expect(tree.trim()).toBe(emptyTrees[format]);
    }
  });

  it('leave the index alone, also when it is stale', async () => {
    const path = await lab.makeRepository('stale');
    await writeFile(join(path, 'k'), 'two\n');
    await utimes(join(path, 'k'), 1, 1);
    const index = await readFile(join(path, '.git/index'));
    const place = await workTreePlace(path);
    for (const command of await workTreeCommands(lab.git, place)) await outputOf(lab.git, command);
    expect(await readFile(join(path, '.git/index'))).toEqual(index);
    const status = await printed(readCommands.status(place, { ignored: false }));
    expect(status.split('\0').filter((record) => !record.startsWith('# '))).toEqual(['']);
  });

  it('list ignored files by the patterns of the repository and of the user', async () => {
    const path = await lab.makeRepository('ignored');
    const patterns = join(lab.place, 'patterns');
    await writeFile(patterns, '.env\n');
    await writeFile(join(path, '.git/info/exclude'), '*.log\n');
    for (const name of ['.env', 'a.log', 'b']) await writeFile(join(path, name), '');
    const place = await workTreePlace(path);
    const marks = async (excludesFile: string | undefined) => {
      const options = { ignored: true, ...(excludesFile === undefined ? {} : { excludesFile }) };
      const records = (await printed(readCommands.status(place, options))).split('\0');
      return records.filter((record) => /^[?!]/.test(record));
    };
    expect(await marks(undefined)).toEqual(['? .env', '? b', '! a.log']);
    expect(await marks(patterns)).toEqual(['? b', '! .env', '! a.log']);
  });
});

describe('the table of settings against the Git of this machine', () => {
  it('has a row for each key that Git knows', () => {
    const help = execFileSync('git', ['help', '--config'], { encoding: 'utf8' });
    const keys = help.split('\n').filter((line) => /^[A-Za-z0-9]+\./.test(line));
    expect(keys.length).toBeGreaterThan(500);
    const sections = new Set(settingRules.flatMap((rule) => rule.keys.map((key) => key.split('.')[0])));
    const unknown = keys.filter((line) => {
      const key = line.replace(/^gpg\.<format>/, 'gpg.ssh').replace(/[<>*]/g, 'x');
      const [setting] = parseSettings(Buffer.from(`local\0${key}\n\0`)) ?? [];
      return setting === undefined || !sections.has(setting.section) || handlingOf(setting) === null;
    });
    expect(unknown).toEqual([]);
  });
});
