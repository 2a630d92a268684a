import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createHttpLab, type HttpLab, makeRepository } from './http-lab.ts';

/** What the test that runs now works with. */
export interface WorktreeLab {
  readonly lab: HttpLab;
  /** A directory of this test alone. */
  readonly place: string;
  /** A registered main checkout of this test alone, in `place`. */
  readonly main: string;
}

/** One lab for the tests of a file, and a fresh main checkout for each of them. */
export function useWorktreeLab(): WorktreeLab {
  let lab: HttpLab | null = null;
  let count = 0;
  const opened = (): HttpLab => {
    if (lab === null) throw new Error('only tests have a lab');
    return lab;
  };
  const here: WorktreeLab = {
    get lab() {
      return opened();
    },
    get place() {
      return join(opened().sandbox, `place ${count}`);
    },
    get main() {
      return join(here.place, 'main');
    },
  };
  beforeAll(async () => {
    lab = await createHttpLab();
  });
  beforeEach(async () => {
    count += 1;
    await makeRepository(here.main);
    await here.lab.service.workspaces?.add(here.main);
  });
  afterAll(() => lab?.[Symbol.asyncDispose]());
  return here;
}
