import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createService, type Service } from '../../src/service.ts';
import { keptDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const numRuns = Number(process.env['WORKSPACE_AUTHORITY_RUNS'] ?? (long ? 2000 : 60));
const seed = Number(process.env['WORKSPACE_AUTHORITY_SEED'] ?? Date.now() % 0x7fff_ffff);

const workspaces = ['w0', 'w1', 'w2', 'w2-like'];
const subdirectories = [undefined, 'a', 'a/b', 'missing', '../w1', '.git'];
const ids = ['session-a', 'session-b', 'session-c'];

interface Step {
  readonly act: 'create' | 'move' | 'close' | 'renew' | 'delete' | 'restore';
  /** Which of two servers is asked. */
  readonly server: number;
  readonly id: string;
  readonly workspace: string;
  readonly path: string | undefined;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('create', 'create', 'move', 'move', 'close', 'renew', 'delete', 'restore'),
  server: fc.nat(1),
  id: fc.constantFrom(...ids),
  workspace: fc.constantFrom(...workspaces, 'unregistered'),
  path: fc.constantFrom(...subdirectories),
});

/** Everything there is to know: where a session began, and where it is. */
type Model = Map<string, { readonly header: string; readonly current: string }>;

let sandbox: string;
let services: readonly Service[];

beforeAll(async () => {
  sandbox = await keptDirectory();
  const stateDirectory = join(sandbox, 'state');
  for (const name of [...workspaces, 'unregistered'])
    await mkdir(join(sandbox, name, 'a/b'), { recursive: true });
  const open = () => createService({ stateDirectory, prover: 'git', binding: testBinding });
  services = [await open(), await open()];
  for (const name of workspaces) await services[0]?.workspaces?.add(join(sandbox, name));
  return async () => {
    for (const service of services) await service.close();
  };
});

/** Whether the model says that the step is done. */
function expected(model: Model, { act, id, workspace, path }: Step, deleted: ReadonlySet<string>): boolean {
  const exists = path === undefined || (['a', 'a/b'].includes(path) && !deleted.has(workspace));
  const possible = workspaces.includes(workspace) && exists;
  switch (act) {
    case 'create':
      return possible && !model.has(id);
    case 'move':
      return possible && model.has(id);
    case 'close':
    case 'renew':
      return model.has(id);
    default:
      return true;
  }
}

async function perform({ act, server, id, workspace, path }: Step): Promise<boolean> {
  const sessions = services[server]?.sessions;
  if (!sessions) throw new Error('the sessions are our own');
  const cwd = join(sandbox, workspace);
  const place = path === undefined ? { cwd } : { cwd, path };
  const acts: Record<Step['act'], () => Promise<unknown>> = {
    create: () => sessions.create({ id, ...place }),
    move: () => sessions.move(id, place),
    close: () => sessions.close(id),
    renew: () => sessions.renew(id),
    delete: () => rm(join(cwd, 'a'), { recursive: true, force: true }),
    restore: () => mkdir(join(cwd, 'a/b'), { recursive: true }),
  };
  try {
    await acts[act]();
    return true;
  } catch (error) {
    if (isAuthorityError(error) && error.status < 500) return false;
    throw error;
  }
}

function follow(model: Model, deleted: Set<string>, { act, id, workspace, path }: Step): void {
  const place = path === undefined ? workspace : `${workspace}/${path}`;
  if (act === 'create') model.set(id, { header: place, current: place });
  if (act === 'move') model.set(id, { header: model.get(id)?.header ?? place, current: place });
  if (act === 'close') model.delete(id);
  if (act === 'delete') deleted.add(workspace);
  if (act === 'restore') deleted.delete(workspace);
}

function occupiers(model: Model, workspace: string): readonly string[] {
  const isIn = (place: string): boolean => place === workspace || place.startsWith(`${workspace}/`);
  return [...model].filter(([, { header, current }]) => isIn(header) || isIn(current)).map(([id]) => id);
}

it(`R28: whatever sessions do, each workspace is occupied by exactly those that began or work there (seed ${seed})`, async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
    const model: Model = new Map();
    const deleted = new Set<string>();
    for (const name of workspaces) await mkdir(join(sandbox, name, 'a/b'), { recursive: true });
    for (const one of await (services[0]?.sessions?.list() ?? [])) await services[0]?.sessions?.close(one.id);
    for (const one of steps) {
      const done = await perform(one);
      expect(done, JSON.stringify(one)).toBe(expected(model, one, deleted));
      if (done) follow(model, deleted, one);
      // The other server sees it as well.
      const asked = services[1 - one.server] as Service;
      for (const workspace of workspaces) {
        const found = await asked.occupants(join(sandbox, workspace));
        const sessions = [...new Set(found.map(({ sessionId }) => sessionId))].sort();
        expect(sessions, `${workspace} after ${JSON.stringify(one)}`).toEqual(
          [...occupiers(model, workspace)].sort(),
        );
      }
    }
  });
  await fc.assert(property, { numRuns, seed, endOnFailure: long });
});
