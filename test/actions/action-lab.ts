import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createService } from '../../src/service/create-service.ts';
import type { Service, ServiceOptions } from '../../src/service.ts';
import { git, makeRepository } from '../support/git.ts';
import { testBinding } from '../support/test-binding.ts';

/** Services over one state directory, and registered repositories with one commit on `main`. */
export interface ActionLab extends AsyncDisposable {
  readonly place: string;
  readonly home: string;
  readonly service: Service;
  /** Another service over the same state, as another process would have it. */
  another(options?: ServiceOptions): Promise<Service>;
  repository(name: string): Promise<string>;
}

export async function createActionLab(options: ServiceOptions = {}): Promise<ActionLab> {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'wa-actions-')));
  const home = join(place, 'home');
  await mkdir(home);
  await writeFile(
    join(home, '.gitconfig'),
    '[user]\n\tname = A Person\n\temail = person@example.invalid\n[core]\n\texcludesFile = ~/ignored\n',
  );
  await writeFile(join(home, 'ignored'), '*.secret\n');
  const services: Service[] = [];
  const another = async (more: ServiceOptions = {}) => {
    const service = await createService({
      stateDirectory: join(place, 'state'),
      prover: 'git',
      binding: testBinding,
      home,
      network: { protocols: ['file'] },
      ...options,
      ...more,
    });
    services.push(service);
    return service;
  };
  const service = await another();
  return {
    place,
    home,
    service,
    another,
    async repository(name) {
      const path = join(place, name);
      await makeRepository(path);
      await service.workspaces?.add(path);
      return path;
    },
    async [Symbol.asyncDispose]() {
      for (const opened of services) await opened.close();
      await rm(place, { recursive: true, force: true });
    },
  };
}

/** What the test that runs now works with. */
export interface ActionPlace {
  readonly lab: ActionLab;
  /** A registered repository of this test alone. */
  readonly repo: string;
  /** A path of this test alone where nothing stands, with the name given. */
  beside(name: string): string;
}

/** One lab for the tests of a file, and a fresh repository for each of them. */
export function useActionLab(options: ServiceOptions = {}): ActionPlace {
  let lab: ActionLab | null = null;
  let repo = '';
  let count = 0;
  const opened = (): ActionLab => {
    if (lab === null) throw new Error('only tests have a lab');
    return lab;
  };
  beforeAll(async () => {
    lab = await createActionLab(options);
  });
  beforeEach(async () => {
    count += 1;
    repo = await opened().repository(`repo ${count}`);
  });
  afterAll(() => lab?.[Symbol.asyncDispose]());
  return {
    get lab() {
      return opened();
    },
    get repo() {
      return repo;
    },
    beside: (name) => join(opened().place, `${name}-${count}`),
  };
}

/** What an action comes to: `ok`, or the code of its refusal with its key. */
export async function outcomeOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
    return 'ok';
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    const said = error.details['reasonKey'] ?? error.details['reason'] ?? error.details['what'];
    return said === undefined ? error.code : `${error.code}: ${said}`;
  }
}

export async function headOf(path: string, revision = 'HEAD'): Promise<string> {
  return (await git(path, 'rev-parse', '--verify', revision)).trim();
}

/** Each file of a commit and what it holds. */
export async function filesOf(path: string, revision = 'HEAD'): Promise<Record<string, string>> {
  const names = (await git(path, 'ls-tree', '-r', '-z', '--name-only', revision)).split('\0').slice(0, -1);
  const contents = await Promise.all(
    names.map((name) => git(path, 'cat-file', 'blob', `${revision}:${name}`)),
  );
  return Object.fromEntries(names.map((name, index) => [name, contents[index] ?? '']));
}
