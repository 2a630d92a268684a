import type { RepositoryFormat } from './repository-format.ts';

/**
 * What a prover is asked: do you, too, find exactly this checkout? Every field is data, so that it can cross to a child.
 */
export interface ProverQuestion {
  /** Canonical path of the root. */
  readonly path: string;
  /** `/proc/<pid>/fd/<n>` of the held root: the prover starts from the held directory, not from the name. */
  readonly rootDescriptor: string;
  readonly root: ObjectNumber;
  /** For a linked worktree its administrative directory. */
  readonly gitDirectory: PlaceOfDirectory;
  readonly commonDirectory: PlaceOfDirectory;
  readonly worktree: WorktreeQuestion | null;
  readonly format: RepositoryFormat;
  /** Changes when the configuration does. */
  readonly configurationStamp: string;
}

/** For a linked worktree: does its main checkout know it, too? */
export interface WorktreeQuestion {
  /** Name of the administrative directory. */
  readonly name: string;
  readonly mainPath: string;
}

export interface ObjectNumber {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface PlaceOfDirectory extends ObjectNumber {
  readonly path: string;
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
