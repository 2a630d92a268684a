import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPlan } from '../../src/native/binding.ts';
import { recoverState } from '../../src/service/recover-state.ts';
import { openFileSessions } from '../../src/sessions/file-sessions.ts';
import { native } from '../support/addon.ts';
import { bundleProgram } from '../support/bundle.ts';
import { keptDirectory, openState, refusalOf, temporaryDirectory } from '../support/state.ts';
import { newSession } from '../support/stored-sessions.ts';
import { addonEnvironment } from '../support/test-binding.ts';

const run = promisify(execFile);
const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
/** The short mode kills at each third call only, beginning at another one each time. */
const stride = long ? 1 : 3;

let program: string;
beforeAll(async () => {
  program = await bundleProgram('session-program.ts', await keptDirectory());
});

/** Places of `session-1` that may be found after a kill: header, current, and those it is on its way to. Null: no session. */
type Places = string | null;

interface Row {
  readonly act: string;
  /** Whether `session-1` is there before, in a file that is there, too. */
  readonly before: boolean;
  readonly allowed: readonly Places[];
  readonly after: Places;
}

const still = '/srv/a /srv/a';
const onItsWay = '/srv/a /srv/a /srv/b';
const rows: readonly Row[] = [
  { act: 'create', before: false, allowed: [null, still], after: still },
  { act: 'move', before: true, allowed: [still, onItsWay, '/srv/a /srv/b'], after: '/srv/a /srv/b' },
  { act: 'abandon', before: true, allowed: [still, onItsWay], after: still },
  { act: 'close', before: true, allowed: [still, null], after: null },
];

async function open(path: string) {
  const { state, gate } = await openState(path);
  await recoverState(native, state, gate, { dryRun: false });
  return openFileSessions(state, gate);
}

async function placesOf(store: Awaited<ReturnType<typeof open>>): Promise<Places> {
  const row = (await store.rows()).find(({ id }) => id === 'session-1');
  if (row === undefined) return null;
  return [row.header, row.current, ...row.moving.map(({ path }) => path)].join(' ');
}

/** The system calls of the act, or null when the process was killed in it. */
async function act(path: string, name: string, fault: FaultPlan | null): Promise<readonly string[] | null> {
  try {
    const { stdout } = await run(process.execPath, [program, path, 'once', name, JSON.stringify(fault)], {
      env: addonEnvironment,
    });
    return JSON.parse(stdout);
  } catch (error) {
    if ((error as { readonly signal?: string }).signal === 'SIGKILL') return null;
    throw error;
  }
}

describe('R28: sessions.json when its writer is killed at any system call', () => {
  it.each(rows)(
    'R27, R28: $act: before or after, never free without a word, and the next server goes on',
    async (row) => {
      const plant = async (): Promise<string> => {
        const path = join(await temporaryDirectory(), 'state');
        if (row.before) await (await open(path)).create(newSession('session-1', '/srv/a'));
        return path;
      };
      const undisturbed = await plant();
      const trace = await act(undisturbed, row.act, null);
      if (trace === null) throw new Error('nobody was to be killed');
      expect(trace.length).toBeGreaterThan(5);
      expect(await placesOf(await open(undisturbed))).toBe(row.after);

      const seen = new Set<Places>();
      let killed = 0;
      const moments = [...trace.keys()].filter((index) => index % stride === row.act.length % stride);
      for (const index of [...moments, trace.length - 1]) {
        const when = index === trace.length - 1 ? 'after' : 'before';
        const at = `${when} call ${index + 1} of ${trace.length}, ${trace[index]}`;
        const path = await plant();
        const died = await act(path, row.act, { syscall: '*', occurrence: index + 1, when, action: 'kill' });
        if (died === null) killed += 1;
        const store = await open(path);
        const places = await placesOf(store);
        expect(row.allowed, at).toContain(places);
        seen.add(places);
        await store.create(newSession('session-2', '/srv/b'));
        const code = places === null ? 'ok' : 'session_already_exists';
        const again = await refusalOf(() => store.create(newSession('session-1', '/srv/a'))).then(
          (refusal) => refusal.code,
          () => 'ok',
        );
        expect(again, at).toBe(code);
        expect((await readdir(path)).sort(), at).toEqual([
          'locks',
          'sessions.json',
          'sessions.json.initialised',
        ]);
      }
      // The test bites: somebody was killed each time, and not always on the same side.
      expect(killed).toBeGreaterThanOrEqual(moments.length);
      expect(seen.size).toBeGreaterThan(1);
    },
  );
});
