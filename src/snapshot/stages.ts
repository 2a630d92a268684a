import { type AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { DegradedStage, StageName } from './snapshot.ts';

/** These end the whole snapshot: nobody waits for it any more, or it would be of another place. */
const ending = new Set(['aborted', 'shutting_down', 'identity_changed', 'workspace_not_authorized']);

/** Runs the stages of a snapshot, so that one that fails leaves the others their answers. */
export class Stages {
  readonly #degraded: DegradedStage[] = [];
  #lasting = true;

  /** Undefined when the stage failed; its name and the reason are then kept. @throws what ends the whole snapshot */
  async attempt<Result>(stage: StageName, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isAuthorityError(error) || ending.has(error.code)) throw error;
      this.#degraded.push({ stage, message: messageOf(error) });
      this.#lasting &&= error.code === 'untrusted_repository_config';
      return undefined;
    }
  }

  has(stage: StageName): boolean {
    return this.#degraded.some((failed) => failed.stage === stage);
  }

  /** In the order in which the contract names the stages. */
  get degraded(): readonly DegradedStage[] {
    return this.#degraded.toSorted((left, right) => order.indexOf(left.stage) - order.indexOf(right.stage));
  }

  /** Whether each failure would be the same while the files of the repository are the same. */
  get lasting(): boolean {
    return this.#lasting;
  }
}

const order: readonly StageName[] = [
  'head',
  'status',
  'ahead-behind',
  'origin-delta',
  'diff-stat',
  'remote',
  'upstream',
  'fetch',
];

function messageOf({ message, details }: AuthorityError): string {
  const { keys } = details;
  return Array.isArray(keys) ? `${message} (${keys.join(', ')})` : message;
}
