import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileSources } from '../support/compiled.ts';
import { temporaryDirectory } from '../support/state.ts';
import { installedPackages, type RealHost, startRealHost } from './real-host.ts';

let compiled: string;
let home: string;
let main: string;
let tree: string;

beforeAll(async () => {
  await installedPackages();
  compiled = await compileSources();
});

beforeEach(async () => {
  home = await temporaryDirectory();
  [main, tree] = [join(home, 'main'), join(home, 'tree')];
  await mkdir(main);
  await mkdir(join(tree, 'src'), { recursive: true });
});

async function start(compression: 'none' | 'zstd', projection = false): Promise<RealHost> {
  const config = { authentication: 'loopback' };
  const host = await startRealHost(compiled, { home, compression, projection, config });
  await host.run('createWorkspace', main);
  await host.run('createWorkspace', tree);
  return host;
}

/** What the API says of the worktree: its occupants, or the code of its refusal. */
async function occupants(host: RealHost): Promise<unknown> {
  const { status, body } = await host.ask(`/sessions/occupants?cwd=${encodeURIComponent(tree)}`);
  return status === 200 ? body?.['occupants'] : body;
}

/** A session that did something and ended with its owner. Answers with the path of its log. */
async function store(host: RealHost, id: string, meta: object): Promise<string> {
  await host.run('createSession', id, meta);
  const log = await host.run<string>('append', id);
  await host.run('endSession', id);
  return log;
}

describe.skipIf(process.arch !== 'x64').each(['none', 'zstd'] as const)(
  'sessions of a real host of 0.1.0, logs with compression %s',
  (compression) => {
    it('R28: run, end, are archived, and are gone when their log is', async () => {
      const host = await start(compression);
      const by = (sessionId: string) => ({ sessionId, by: 'header', reason: 'inside' });
      expect(await occupants(host)).toEqual([]);
      await host.run('createSession', 'blank', { cwd: tree });
      expect(await occupants(host)).toEqual([by('blank')]);
      await host.run('endSession', 'blank');
      expect(await occupants(host)).toEqual([]);

      const log = await store(host, 'stored', { cwd: `${tree}//src/` });
      await store(host, '../child', { cwd: tree, origin: 'subagent', parentSession: 'stored' });
      await store(host, 'elsewhere', { cwd: main });
      expect(await occupants(host)).toEqual(expect.arrayContaining([by('stored'), by('../child')]));
      await host.run('archiveSession', '../child');
      expect(await occupants(host)).toEqual([by('stored')]);

      await host.kill();
      const next = await startRealHost(compiled, {
        home,
        compression,
        config: { authentication: 'loopback' },
      });
      expect(await occupants(next)).toEqual([by('stored')]);
      rmSync(log);
      expect(await occupants(next)).toEqual([]);
    });

    it('W4: without a directory count everywhere, since this host attaches none of them', async () => {
      const host = await start(compression);
      const log = await store(host, 'nowhere', {});
      const why = 'no directory is recorded';
      expect(await occupants(host)).toEqual([{ sessionId: 'nowhere', by: 'header', reason: 'unknown', why }]);
      rmSync(log);
      expect(await occupants(host)).toEqual([]);
    });

    it('R04: with damaged logs count, each with its reason, or refuse everything where the host lists none', async () => {
      const host = await start(compression);
      const good = await store(host, 's', { cwd: main });
      const bytes = readFileSync(good);
      const damaged = async (content: Uint8Array | string): Promise<unknown> => {
        writeFileSync(good, content);
        const found = await occupants(host);
        writeFileSync(good, bytes);
        return found;
      };
      const lost = 'its log is there, but the host does not list it';
      const unread = 'its log cannot be read by this host';
      const unknown = (by: string, why: string) => [{ sessionId: 's', by, reason: 'unknown', why }];
      const refused = expect.objectContaining({ ok: false, code: 'session_guard_unavailable' });

      expect(await damaged('')).toEqual(unknown('header', lost));
      expect(await damaged(bytes.subarray(0, 7))).toEqual(unknown('header', lost));
      const garbage = Buffer.from('\0garbage that is longer than any header of a frame\n'.repeat(9));
      expect(await damaged(garbage)).toEqual(compression === 'none' ? unknown('header', lost) : refused);
      // What a crash leaves: the host goes on with what is whole.
      expect(await damaged(bytes.subarray(0, -3))).toEqual([]);
      if (compression === 'none') {
        const text = bytes.toString();
        expect(await damaged(text.replace('"version":0', '"version":99'))).toEqual(
          unknown('current', unread),
        );
        expect(await damaged(text.replace('"id":"s"', '"id":"t"'))).toEqual(refused);
        const change = { type: 'working-directory/change', seq: 1, time: 1, data: { cwd: main } };
        expect(await damaged(`${text}${JSON.stringify(change)}\n`)).toEqual(unknown('current', unread));
        // To the host a log ends before its first damaged line: that is what it would go on with.
        const [header, ...events] = text.split('\n');
        expect(await damaged([header, '{"type":', ...events].join('\n'))).toEqual([]);
      }
      expect(await occupants(host)).toEqual([]);
    });
  },
);

describe.skipIf(process.arch !== 'x64')('a real host of 0.1.0 that records directories', () => {
  it('R28: the last change of a running session counts; what it left in the log is more than this host can read', async () => {
    const host = await start('none', true);
    const move = (cwd: string) => host.run('append', 's', ['working-directory/change', { cwd }]);
    await host.run('createSession', 's', { cwd: main });
    // Nothing is recorded for it yet: where it works is not known.
    const unknown = { sessionId: 's', by: 'current', reason: 'unknown' };
    expect(await occupants(host)).toEqual([expect.objectContaining(unknown)]);
    await move(join(tree, 'src'));
    expect(await occupants(host)).toEqual([{ sessionId: 's', by: 'current', reason: 'inside' }]);
    await move(main);
    expect(await occupants(host)).toEqual([]);
    await host.run('endSession', 's');
    const why = 'its log cannot be read by this host';
    expect(await occupants(host)).toEqual([{ ...unknown, why }]);
  });
});
