import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../support/bundle.ts';
import { keptDirectory, temporaryDirectory } from '../support/state.ts';
import { newSession, openSessions } from '../support/stored-sessions.ts';
import { addonEnvironment } from '../support/test-binding.ts';

const run = promisify(execFile);

let program: string;
beforeAll(async () => {
  program = await bundleProgram('session-program.ts', await keptDirectory());
});

/** What a program has said last of each of its sessions; null: closed. */
type Told = Map<string, string | null>;

describe('sessions among processes', () => {
  it('R28: 6 processes that open, move and close sessions at once lose nothing of each other', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const running = Array.from({ length: 6 }, (_, index) =>
      run(process.execPath, [program, path, 'churn', `process${index}`, '9'], { env: addonEnvironment }),
    );
    for (const { stdout } of await Promise.all(running)) expect(JSON.parse(stdout)).toBe(9);
    const { store } = await openSessions(path);
    const rows = await store.rows();
    expect(rows).toHaveLength(6 * 6);
    for (const { id, header, current, moving } of rows) {
      const [prefix] = id.split('-');
      expect([header, current, moving]).toEqual([`/srv/${prefix}/a`, `/srv/${prefix}/b`, []]);
    }
    expect((await readdir(path)).sort()).toEqual(['locks', 'sessions.json', 'sessions.json.initialised']);
  });

  it('R28: a writer that is killed leaves the file whole, with every session where it was last said to be', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { store } = await openSessions(path);
    await store.create(newSession('session-of-ours', '/srv/ours'));
    for (let round = 0; round < 5; round += 1) {
      const writer = fork(program, [path, 'churn', `round${round}`, '1000'], {
        execArgv: [],
        silent: true,
        env: addonEnvironment,
      });
      const told: Told = new Map();
      let messages = 0;
      writer.on('message', ({ id, place }: { readonly id: string; readonly place: string | null }) => {
        messages += 1;
        told.set(id, place);
      });
      while (messages < 4 + round * 3) await once(writer, 'message');
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      const rows = new Map((await store.rows()).map((row) => [row.id, row]));
      expect(rows.has('session-of-ours')).toBe(true);
      const ids = [...told.keys()];
      for (const [id, place] of told) {
        const row = rows.get(id);
        const isLast = id === ids.at(-1);
        // The last one may have gone one step further than was said.
        if (place === null) expect(row, id).toBeUndefined();
        else if (!isLast || row !== undefined) expect(row?.header, id).toBe(`/srv/round${round}/a`);
        if (place === 'b' && !isLast) expect(row?.current, id).toBe(`/srv/round${round}/b`);
      }
      await store.create(newSession(`session-after-${round}`));
    }
  });
});
