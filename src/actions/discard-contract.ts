export interface DiscardRequest {
  /** Plain paths below the root, each with all that is below it; default: everything. Never patterns. */
  readonly paths?: readonly string[] | undefined;
  /** Whether ignored files go, too; default false. */
  readonly ignored?: boolean | undefined;
  /** Of the preview that is meant. */
  readonly token?: string | undefined;
  /**
   * Who asks, for callers that cannot return a token: their second request within ten minutes that finds the state of their first one is
   * the confirmation (decisions 1.1). Without it only a token is one.
   */
  readonly caller?: string | undefined;
}

/** What a discard would destroy. Paths are for people: undecodable bytes are U+FFFD. */
export interface DiscardPreview {
  readonly token: string;
  readonly counts: DiscardCounts;
  /** Some of the paths, sorted. */
  readonly paths: readonly string[];
  /** How many more there are. */
  readonly more: number;
  /** Submodules and repositories among the files, which are left alone. */
  readonly left: readonly string[];
}

export interface DiscardCounts {
  /** Tracked paths whose entry in the index differs from the commit. */
  readonly staged: number;
  /** Tracked paths whose file differs from the index. */
  readonly unstaged: number;
  readonly untracked: number;
  readonly ignored: number;
  /** Bytes of the files that go. */
  readonly bytes: number;
}

export interface DiscardOutcome {
  /** Id of the archive that has what was destroyed. */
  readonly archive: string;
  readonly counts: DiscardCounts;
  readonly left: readonly string[];
}

/** One discard that can be taken back. */
export interface Discarded {
  readonly archive: string;
  readonly createdAt: string;
  readonly keptUntil: string;
  /** Whether it was in this checkout; else in another one of the same repository. */
  readonly here: boolean;
  /** False for one that was cut off: part of what it has may still stand. */
  readonly finished: boolean;
  /** Null where HEAD was detached. */
  readonly branch: string | null;
  /** The commit that was checked out; null where there was none. */
  readonly head: string | null;
  /** Files and links that it has. */
  readonly files: number;
  /** On the disk of the server. */
  readonly bytes: number;
}

export interface RestoreDiscardedRequest {
  readonly archive: string;
  /** As in a discard; default: all that it has. */
  readonly paths?: readonly string[] | undefined;
}

export interface RestoreDiscardedOutcome {
  readonly restored: readonly string[];
  /** What stood there as it was kept. */
  readonly present: readonly string[];
  /** What was left alone, since something of its own stands there or the place may not be written. */
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
  /** Paths whose staged content is in the index again. */
  readonly staged: readonly string[];
  /** Paths whose index entry was not put back: the commit or the index is another one now, or the discarded change was a deletion. */
  readonly unstaged: readonly string[];
}
