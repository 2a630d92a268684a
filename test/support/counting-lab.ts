import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryProver } from '../../src/proof/prover.ts';
import { answerOf } from './answers.ts';
import { type AuthorityLab, createLab, type LabOptions } from './authority-lab.ts';
import { makeRepository } from './git.ts';

/** Counts what it is asked and agrees: where our own round trip is under test. */
class CountingProver implements RepositoryProver {
  asked = 0;

  async prove(): Promise<{ readonly agrees: true }> {
    this.asked += 1;
    return { agrees: true };
  }
}

/** A registered repository and a registered plain directory side by side, and a prover that counts. */
export interface CountingLab {
  readonly lab: AuthorityLab;
  readonly prover: CountingProver;
  readonly repository: string;
  readonly plain: string;
  answer(selector: string): Promise<string>;
  /** Another authority over the same directories, with rows for both. */
  beside(options?: LabOptions): Promise<AuthorityLab>;
}

export async function createCountingLab(): Promise<CountingLab> {
  const prover = new CountingProver();
  const lab = await createLab({ prover });
  await makeRepository(join(lab.place, 'above/repository'));
  await mkdir(join(lab.place, 'above/plain'));
  return {
    lab,
    prover,
    repository: await lab.register('above/repository'),
    plain: await lab.register('above/plain'),
    answer: (selector) => answerOf(lab.authority, selector),
    async beside(options = {}) {
      const other = await createLab({ place: lab.place, prover, ...options });
      await other.register('above/repository');
      await other.register('above/plain');
      return other;
    },
  };
}
