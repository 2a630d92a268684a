import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Maker } from './history-maker.ts';

/** A repository whose history and unsaved work are made by hand, with what a test needs to know of it. */
export interface MadeHistory {
  /** Makes commits in a repository that has one empty commit on `main`. */
  readonly history: (at: Maker) => void;
  /** Changes files and index of a clone of it, without a commit. */
  readonly work: (at: Maker) => void;
  /** Paths whose part of a diff is asked for by itself. */
  readonly paths?: readonly string[];
}

const lines = (from: number, to: number, end = '\n') =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}${end}`).join('');

const bytes = (...values: number[]) => Buffer.from(values);
/** `caf` and an e with an accent in Latin-1: no UTF-8. */
const latinName = Buffer.concat([Buffer.from('caf'), bytes(0xe9)]);
const latinText = Buffer.concat([bytes(0xe9, 0xff), Buffer.from(' text\n')]);

/** A pointer as git-lfs writes it, for content that is nowhere (git-lfs specification, "The Pointer"). */
const pointer = (digit: string, size: number) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize ${size}\n`;

/** Makes HEAD again as a commit that carries a signature, as gpg would have left it. */
function sign(at: Maker): void {
  const [head = '', ...message] = at.git('cat-file', 'commit', 'HEAD').split('\n\n');
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----';
  const oid = at.gitWith(
    `${head}\n${signature}\n\n${message.join('\n\n')}`,
    'hash-object',
    '-t',
    'commit',
    '-w',
    '--stdin',
  );
  at.git('reset', '-q', '--hard', oid.trim());
}

/** Stages a commit of another repository under a name, as `git submodule add` does, without one that is populated. */
function gitlink(at: Maker, name: string, digit: string): void {
  at.git('update-index', '--add', '--cacheinfo', `160000,${digit.repeat(40)},${name}`);
}

function commitIndex(at: Maker, subject: string): void {
  at.git('commit', '-q', '-m', subject);
}

export const madeHistories: Readonly<Record<string, MadeHistory>> = {
  renames: {
    history(at) {
      at.put('a', lines(1, 40));
      at.put('dir/b', lines(100, 140));
      at.put('small', 'x\n');
      at.commit();
      at.move('a', 'deep/er/a');
      at.move('dir/b', 'a');
      at.put('a', `${lines(100, 120)}changed\n${lines(122, 140)}`);
      at.commit();
      at.move('deep/er/a', 'tmp');
      at.move('a', 'deep/er/a');
      at.move('tmp', 'a');
      at.commit();
    },
    work(at) {
      at.git('mv', 'a', 'moved');
      at.put('moved', `${lines(1, 39)}end\n`);
      at.git('mv', 'deep', 'shallow');
      at.git('rm', '-q', 'small');
    },
    paths: ['deep', 'moved'],
  },
  copies: {
    history(at) {
      at.put('a', lines(1, 60));
      at.commit();
      at.put('copy', lines(1, 60));
      at.put('near', `${lines(1, 30)}x\n${lines(31, 60)}`);
      at.put('a', `first\n${lines(1, 60)}`);
      at.commit();
      at.put('again', lines(1, 60), 0o755);
      at.put('copy', `${lines(1, 59)}`);
      at.commit();
    },
    work(at) {
      at.put('a', lines(2, 60));
      at.put('b', lines(1, 60));
      at.put('c', lines(1, 58));
      at.git('add', '-N', 'b', 'c');
    },
  },
  modes: {
    history(at) {
      at.put('script', 'x\n');
      at.put('plain', 'y\n', 0o755);
      at.put('empty', '');
      at.commit();
      at.put('script', 'x\n', 0o755);
      at.put('plain', 'z\n');
      at.put('empty', '', 0o755);
      at.commit();
    },
    work(at) {
      at.put('script', 'xx\n');
      at.put('empty', '');
      at.put('new', '', 0o755);
      at.git('update-index', '--chmod=+x', 'plain');
      at.put('plain', 'z\n', 0o755);
    },
  },
  'changes of type': {
    history(at) {
      at.put('file', lines(1, 5));
      at.link('link', 'file');
      at.put('tree/x', 'x\n');
      at.put('tree/y', 'y\n');
      at.put('leaf', 'leaf');
      at.commit();
      at.link('file', lines(1, 5));
      at.remove('link');
      at.put('link', 'file', 0o755);
      at.removeAll('tree');
      at.put('tree', 'now a file\n');
      at.remove('leaf');
      at.put('leaf/in', 'leaf');
      at.commit();
      gitlink(at, 'module', '1');
      commitIndex(at, 'module');
      at.put('module', 'a file\n');
      at.git('rm', '-q', '--cached', 'module');
      at.commit();
    },
    work(at) {
      at.remove('tree');
      at.link('tree', 'nowhere without end');
      at.remove('file');
      at.put('file', 'x\0y');
      at.remove('module');
      at.put('module/x', 'x\n');
      at.git('add', '-A');
    },
  },
  submodules: {
    history(at) {
      at.put('f', 'x\n');
      at.put('.gitmodules', '[submodule "m"]\n\tpath = m\n\turl = ./m\n');
      at.git('add', '-A');
      gitlink(at, 'm', '1');
      gitlink(at, 'deep/n', '2');
      commitIndex(at, 'two');
      gitlink(at, 'm', '3');
      commitIndex(at, 'moved on');
      at.git('mv', '-k', 'deep', 'deeper');
      at.git('rm', '-q', '--cached', 'deep/n');
      gitlink(at, 'other', '2');
      commitIndex(at, 'renamed');
    },
    work(at) {
      at.put('f', 'y\n');
      gitlink(at, 'm', '4');
      gitlink(at, 'new', '5');
      at.git('rm', '-q', '--cached', 'other');
      for (const name of ['m', 'new']) mkdirSync(join(at.root, name), { recursive: true });
    },
  },
  'populated submodules': {
    history(at) {
      at.put('f', 'x\n');
      at.commit();
    },
    work(at) {
      mkdirSync(join(at.root, 'm'));
      const inner = new Maker(join(at.root, 'm'));
      inner.git('init', '-q');
      inner.put('x', 'x\n');
      inner.commit();
      at.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'm');
      commitIndex(at, 'module');
      inner.put('x', 'y\n');
      inner.commit();
      inner.put('dirty', 'not a commit\n');
    },
  },
  '5,000 files': {
    history(at) {
      for (let index = 0; index < 5000; index += 1) at.put(`d${index % 70}/f${index}`, `${index}\n`);
      at.commit();
      for (let index = 0; index < 5000; index += 10) at.put(`d${index % 70}/f${index}`, `${index}\nmore\n`);
      at.git('mv', 'd1', 'moved');
      at.commit();
      for (let index = 0; index < 5000; index += 1) {
        if (index % 70 !== 1) at.put(`d${index % 70}/f${index}`, `${index} new\n`);
      }
      at.commit();
    },
    work(at) {
      for (let index = 2; index < 5000; index += 70) at.remove(`d2/f${index}`);
      for (let index = 3; index < 5000; index += 70) at.put(`d3/f${index}`, `${index}`);
      for (let index = 0; index < 150; index += 1) at.put(`new/${index}`, 'x\n');
    },
    paths: ['moved'],
  },
  'octopus merges': {
    history(at) {
      at.put('f', lines(1, 9));
      at.commit();
      for (const name of ['one', 'two', 'three']) {
        at.git('checkout', '-q', '-b', name, 'main');
        at.put(name, `${name}\n`);
        at.commit(name);
      }
      at.git('checkout', '-q', 'main');
      at.put('f', lines(1, 10));
      at.commit('ours');
      at.git('merge', '-q', '--no-edit', 'one', 'two', 'three');
      at.git('checkout', '-q', '-b', 'side', 'HEAD~1');
      at.put('f', lines(0, 10));
      at.commit('side');
      at.git('checkout', '-q', 'main');
      at.put('f', lines(1, 11));
      at.commit('again');
      at.git('merge', '-q', '--no-edit', '-s', 'ours', 'side');
    },
    work(at) {
      at.remove('one');
      at.put('f', '');
    },
  },
  'signed commits': {
    history(at) {
      at.put('f', 'one\n');
      at.commit();
      sign(at);
      at.put('f', 'two\n');
      at.commit();
      sign(at);
      at.git('config', 'log.showSignature', 'true');
    },
    work(at) {
      at.put('f', 'three\n');
    },
  },
  'carriage returns': {
    history(at) {
      at.put('dos', lines(1, 20, '\r\n'));
      at.put('unix', lines(1, 20));
      at.put('mixed', 'a\r\nb\nc\r\n\rd');
      at.commit();
      at.put('dos', lines(1, 20));
      at.put('unix', lines(1, 20, '\r\n'));
      at.put('mixed', 'a\nb\r\nc\r\r\n\rd\r');
      at.commit();
      at.put('.gitattributes', 'normal text eol=crlf\n');
      at.put('normal', lines(1, 20, '\r\n'));
      at.commit();
    },
    work(at) {
      at.put('dos', lines(1, 21, '\r\n'));
      at.put('mixed', 'a\r\n');
      at.put('normal', lines(1, 22, '\r\n'));
      at.put('untracked', lines(1, 3, '\r\n'));
    },
  },
  'converted line endings': {
    history(at) {
      at.put('f', lines(1, 20));
      at.commit();
    },
    work(at) {
      at.git('config', 'core.autocrlf', 'true');
      at.put('f', lines(1, 21, '\r\n'));
    },
  },
  'pointers of git-lfs': {
    history(at) {
      at.put('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
      at.put('a.bin', pointer('a', 12));
      at.put('b.bin', pointer('b', 34));
      at.commit();
      at.put('a.bin', pointer('c', 56));
      at.move('b.bin', 'moved.bin');
      at.commit();
    },
    work(at) {
      at.put('a.bin', pointer('d', 7));
      at.put('new.bin', pointer('e', 8));
    },
  },
  'names that are no UTF-8': {
    history(at) {
      at.put(latinName, 'one\n');
      at.put(Buffer.concat([latinName, Buffer.from('/'), latinName]).subarray(0, 4), 'one\n');
      at.put(Buffer.concat([Buffer.from('d'), bytes(0xff), Buffer.from('/x')]), lines(1, 30));
      at.put(Buffer.from('tab\tnew\nline"quote\\'), 'x\n');
      at.commit();
      at.put(latinName, 'two\n');
      at.remove(Buffer.concat([Buffer.from('d'), bytes(0xff), Buffer.from('/x')]));
      at.put(bytes(0xfe, 0x20), `${lines(1, 29)}`);
      at.commit();
      at.put(bytes(0xfe), Buffer.from([0, 1, 2]));
      at.commit();
    },
    work(at) {
      at.remove(latinName);
      at.put(bytes(0xfe), Buffer.from([0, 1]));
      at.put(bytes(0x80, 0x2d), 'untracked\n');
      at.put(bytes(0x81), Buffer.from([0]));
    },
  },
  'contents that are no UTF-8': {
    history(at) {
      at.put('latin', Buffer.concat([latinText, latinText]));
      at.put('wide', Buffer.from('\ufeffwide\n', 'utf16le'));
      at.put('binary', bytes(0, 1, 2));
      at.put('asked', 'text\n');
      at.put('late', Buffer.concat([Buffer.alloc(9000, 'x\n'), bytes(0), Buffer.from('\n')]));
      at.commit();
      at.put('latin', Buffer.concat([latinText, Buffer.from('\ufffd\n'), bytes(0xc0, 0x80)]));
      at.put('wide', Buffer.from('\ufeffwider\n', 'utf16le'));
      at.put('binary', 'now text\n');
      at.put('late', Buffer.concat([Buffer.alloc(9002, 'x\n'), bytes(0), Buffer.from('\n')]));
      at.put('.gitattributes', 'asked binary\nforced diff\n');
      at.put('forced', bytes(0x61, 0, 0x0a));
      at.commit();
      at.put('asked', 'text and more\n');
      at.put('forced', bytes(0x62, 0, 0x0a, 0, 0x0a));
      at.commit();
    },
    work(at) {
      at.put('latin', latinText);
      at.move('wide', 'wider');
      at.put('binary', bytes(0));
      at.put('asked', 'x\n');
    },
  },
  'lines without an end': {
    history(at) {
      at.put('a', 'one\ntwo');
      at.put('b', 'one\ntwo\n');
      at.put('c', '\\ No newline at end of file');
      at.put('d', '-- x\n++ y\n@@ -1 +1 @@\n--- a/d\n+++ b/d');
      at.commit();
      at.put('a', 'one\ntwo\n');
      at.put('b', 'one\ntwo');
      at.put('c', '\\ No newline at end of file\n\\ No newline at end of file');
      at.put('d', '++ y\n-- x\ndiff --git a/d b/d\n--- a/d');
      at.commit();
    },
    work(at) {
      at.put('a', 'one\ntwo\nthree');
      at.put('b', '');
      at.put('c', '\n');
      at.put('e', '\n\n\\');
      at.remove('d');
    },
  },
  'conflicts that stand': {
    history(at) {
      at.put('f', lines(1, 9));
      at.put('gone', 'x\n');
      at.commit();
      at.git('branch', 'side');
      at.put('f', `ours\n${lines(2, 9)}`);
      at.remove('gone');
      at.commit('ours');
      at.git('checkout', '-q', 'side');
      at.put('f', `theirs\n${lines(2, 9)}`);
      at.put('gone', 'y\n');
      at.put('both', 'theirs\n');
      at.commit('theirs');
      at.git('checkout', '-q', 'main');
      at.put('both', 'ours\n');
      at.commit('both');
    },
    work(at) {
      try {
        at.git('merge', '-q', '--no-edit', 'refs/remotes/origin/side');
      } catch {
        // Conflicts are what it is for.
      }
    },
  },
  'a sparse checkout': {
    history(at) {
      for (const name of ['in/a', 'in/b', 'out/c', 'top']) at.put(name, `${name}\n`);
      at.commit();
      at.put('out/c', 'changed\n');
      at.commit();
    },
    work(at) {
      at.git('sparse-checkout', 'set', 'in');
      at.put('in/a', 'here\n');
    },
    paths: ['in', 'out'],
  },
};
