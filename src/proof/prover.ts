import type { RepositoryFormat } from './repository-format.ts';

/** What a prover is asked: do you, too, find exactly this main checkout? Every field is data, so that it can cross to a child. */
export interface ProverQuestion {
  /** Canonical path of the root; its Git directory is `<path>/.git`. */
  readonly path: string;
  /** `/proc/<pid>/fd/<n>` of the held root: the prover starts from the held directory, not from the name. */
  readonly rootDescriptor: string;
  readonly root: ObjectNumber;
  readonly gitDirectory: ObjectNumber;
  readonly format: RepositoryFormat;
  /** Changes when the configuration does. */
  readonly configurationStamp: string;
}

export interface ObjectNumber {
  readonly device: bigint;
  readonly inode: bigint;
}

/** `seen` says in a few words what was found instead. */
export type ProverOpinion = { readonly agrees: true } | { readonly agrees: false; readonly seen: string };

/**
 * A second opinion. It never replaces our own round trip: libgit2 opens a repository with garbage in HEAD and follows a symbolic
 * link named `.git`.
 */
export interface RepositoryProver {
  /** @throws `prover_unavailable` when there is no answer: dead, late, garbled, not installed | `aborted` */
  prove(question: ProverQuestion, signal?: AbortSignal): Promise<ProverOpinion>;
}

/** Names what a prover looked at, to remember that it hung there: another configuration is another chance. */
export function repositoryKey({ gitDirectory, configurationStamp }: ProverQuestion): string {
  return `${gitDirectory.device}:${gitDirectory.inode}:${configurationStamp}`;
}
