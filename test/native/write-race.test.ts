import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { Attacker, buildAttacker } from '../race/attacker.ts';
import { temporaryDirectory } from '../support/room-contents.ts';
import { type BaseVersion, replaceRequest, versionOf, WriteRoom } from './write-fixture.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';

/** A program beside the test that says `ready`, works until its standard input closes, and then prints a number. */
class Rival {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams, lines: AsyncIterator<string>) {
    this.#child = child;
    this.#lines = lines;
  }

  static async start(program: string, words: readonly string[]): Promise<Rival> {
    const child = spawn(program, words);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    return new Rival(child, lines);
  }

  /** Between any two of its steps, as a scheduler does. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async stop(): Promise<number> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    const { value } = await this.#lines.next();
    expect(await ended).toEqual([0, null]);
    return Number(value);
  }
}

/** Inode and content of one moment; a base put together from two would be a version that never was. */
function consistentVersionOf(path: string): BaseVersion {
  while (true) {
    const before = versionOf(path);
    const after = versionOf(path);
    if (before.baseInode === after.baseInode && Buffer.compare(before.baseBytes, after.baseBytes) === 0)
      return after;
  }
}

function linesIn(directory: string): Set<string> {
  const texts = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  return new Set(texts.join('').split('\n'));
}

test('R14: between two who exchange versions of one file, no version of either is lost', async () => {
  const rounds = long ? 20_000 : 500;
  using programs = temporaryDirectory();
  const racerProgram = join(programs.path, 'racer');
  execFileSync('cc', ['-O2', '-o', racerProgram, join(import.meta.dirname, 'version-racer.c')]);
  await using room = await WriteRoom.open();
  writeFileSync(room.at('f'), 'racer 0\n');
  const log = join(programs.path, 'log');
  const racer = await Rival.start(racerProgram, [room.path, 'f', log]);
  /** Texts that our commits replaced after we had read them, and texts that were committed. */
  const accounted = new Set<string>();
  const committed: string[] = [];
  const endings = { committed: 0, conflict: 0 };
  // Where our side is slow the racer may win each time; then it rests for a round.
  const goesOn = (count: number) => count < rounds || (endings.committed === 0 && count < 2 * rounds);
  for (let count = 0; goesOn(count); count++) {
    if (count >= rounds) racer.pause();
    const base = consistentVersionOf(room.at('f'));
    const text = `ours ${count}`;
    const { outcome } = await room.root.replace('f', replaceRequest(`${text}\n`, base), null);
    if (count >= rounds) racer.resume();
    endings[outcome]++;
    if (outcome === 'conflict') continue;
    accounted.add(Buffer.from(base.baseBytes).toString().trimEnd());
    committed.push(text);
  }
  const versions = await racer.stop();
  for (const line of readFileSync(log, 'utf8').split('\n')) accounted.add(line);
  for (const line of linesIn(room.path)) accounted.add(line);
  const racers = Array.from({ length: versions + 1 }, (_, index) => `racer ${index}`);
  expect([...racers, ...committed].filter((text) => !accounted.has(text))).toEqual([]);
  expect(endings.committed, 'some commits found their base').toBeGreaterThan(0);
  expect(endings.conflict, 'some were beaten to it').toBeGreaterThan(0);
  expect(versions).toBeGreaterThan(rounds / 10);
});

test('R14: beside a program that appends to the file in place, every line is in the file or in one that was kept', async () => {
  const rounds = long ? 20_000 : 400;
  await using room = await WriteRoom.open();
  writeFileSync(room.at('f'), '');
  const program = join(import.meta.dirname, 'appender.mjs');
  const appender = await Rival.start(process.execPath, [program, room.at('f')]);
  let commits = 0;
  for (let count = 0; count < rounds; count++) {
    const base = consistentVersionOf(room.at('f'));
    const text = `${Buffer.from(base.baseBytes)}commit ${count}\n`;
    const ending = await room.root
      .replace('f', replaceRequest(text, base), null)
      .catch(({ code }) => ({ outcome: code }));
    expect(['committed', 'conflict', 'WA_WRITER_OPEN']).toContain(ending.outcome);
    if (ending.outcome === 'committed') commits++;
  }
  const lines = await appender.stop();
  const found = linesIn(room.path);
  const lost = Array.from({ length: lines }, (_, index) => `line ${index}`).filter(
    (line) => !found.has(line),
  );
  expect(lost).toEqual([]);
  expect(lines).toBeGreaterThan(0);
  expect(commits).toBeGreaterThan(0);
});

describe('R10: while the parent directory is exchanged, nothing outside the root is written', () => {
  const rows = [
    { title: 'for a directory outside that looks the same', link: false },
    { title: 'for a link to that directory', link: true },
  ];
  test.each(rows)('$title', async ({ link }) => {
    const rounds = long ? 10_000 : 300;
    using programs = temporaryDirectory();
    using base = temporaryDirectory();
    const inside = join(base.path, 'root/d');
    const outside = join(base.path, 'outside');
    for (const directory of [inside, outside]) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'f'), 'version 0');
    }
    if (link) symlinkSync('../outside', join(base.path, 'root/l'));
    await using room = await WriteRoom.open(join(base.path, 'root'));
    const target = versionOf(join(inside, 'f'));
    let version: BaseVersion = target;
    const attack = ['exchange', 'root/d', link ? 'root/l' : 'outside'] as const;
    const attacker = await Attacker.start(buildAttacker(programs.path), base.path, attack);
    const endings = new Map<string, number>();
    // On a busy machine the attacker may win very often.
    const goesOn = (count: number) => count <= rounds || (!endings.has('committed') && count <= 40 * rounds);
    for (let count = 1; goesOn(count); count++) {
      const text = `version ${count}`;
      const request = replaceRequest(text, version);
      const ending = await room.root.replace('d/f', request, null).catch((error) => error);
      const word = ending.outcome ?? ending.code;
      endings.set(word, (endings.get(word) ?? 0) + 1);
      if (word === 'committed') {
        version = { ...version, baseBytes: Buffer.from(text), baseInode: ending.facts[3] };
      }
    }
    await attacker.stop();
    const allowed = ['committed', 'conflict', 'WA_PARENT_MOVED', 'ELOOP', 'ENOENT', 'EXDEV', 'EAGAIN'];
    expect([...endings.keys()].filter((word) => !allowed.includes(word))).toEqual([]);
    expect(endings.get('committed') ?? 0).toBeGreaterThan(0);
    // The attack ends with the two directories in either place.
    const directories = link ? [outside, inside, join(base.path, 'root/l')] : [outside, inside];
    const texts = directories.map((directory) => readFileSync(join(directory, 'f'), 'utf8'));
    expect(new Set(texts)).toEqual(new Set(['version 0', Buffer.from(version.baseBytes).toString()]));
    expect(room.leftovers('d'), 'nothing is left').toEqual([]);
    expect(readdirSync(outside).filter((name) => name.startsWith('.wa-'))).toEqual([]);
  });
});
