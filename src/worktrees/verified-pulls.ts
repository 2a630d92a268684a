import type { BranchName, CommitOid, RefName } from '../git/values.ts';
import type { PullSelector } from './create-request.ts';

/** What the forge says of an open pull request; nothing of it is from a caller. */
export interface VerifiedPull {
  readonly number: number;
  readonly headOid: CommitOid;
  readonly headRef: BranchName;
  /** Null where it names no branch that could be one here. */
  readonly baseRef: BranchName | null;
  /** Owner of the repository that the head lies in; null: it is the same repository. */
  readonly forkOwner: BranchName | null;
  /** Full name under which the remote offers the head, e.g. `refs/pull/12/head`. */
  readonly remoteRef: RefName;
}

/** Asks the forge. It knows no repository on this machine: what it is given is the address of `origin`. */
export interface VerifiedPulls {
  /** @throws when the address is not that of the selected repository, the pull request is unknown, or what the forge says cannot be believed */
  verify(pull: PullSelector, originAddress: string, signal?: AbortSignal): Promise<VerifiedPull>;
}
