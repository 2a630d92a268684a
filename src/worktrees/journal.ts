import type { StoredIdentity } from '../capability/identity.ts';
import type { WorktreeIntent } from '../capability/managed-worktree-capability.ts';
import type { ProcessOwner } from '../capability/process-owner.ts';
import { RecordReader } from '../capability/record-reader.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import { type BranchName, type CommitOid, parseBranchName, parseCommitOid } from '../git/values.ts';

/** What a creation is going to make, decided before anything of it is there. */
export interface CreationPlan {
  /** Name of the directory. */
  readonly leaf: string;
  readonly branch: BranchName;
  /** The commit that the worktree begins at. */
  readonly oid: CommitOid;
  /** Whether the branch is made for it. */
  readonly ownsBranch: boolean;
  readonly intent: WorktreeIntent;
  readonly baseOid: CommitOid | null;
  readonly baseName: BranchName | null;
  readonly copiedFrom: BranchName | null;
  /** Branch of `origin` that the new branch follows. */
  readonly upstream: BranchName | null;
  readonly sourceTitle: string | null;
  /** Set for a pull request, whose head is `oid`. */
  readonly pullNumber: number | null;
  readonly createdAtMs: number;
}

/**
 * A creation that has begun and not ended. `prepared`: nothing, or some of what Git makes without files is there. `added`: Git knows the
 * worktree, which was proven; from here on it is only ever finished, never taken back.
 */
export interface Journal {
  readonly txId: string;
  /** Null for a creation that nobody can ask for again. */
  readonly fingerprint: string | null;
  readonly owner: ProcessOwner;
  readonly phase: 'prepared' | 'added';
  readonly plan: CreationPlan;
  /** The directory that was made for the worktree; null before it was. */
  readonly root: StoredIdentity | null;
  /** Set in `added`. */
  readonly gitDirectory: StoredIdentity | null;
}

const nameShape = /^\.pending-([A-Za-z0-9_-]{16,100})\.json$/;
const version = 1;

export function journalName(txId: string): string {
  return `.pending-${txId}.json`;
}

/** Null for any other file. */
export function txIdOfJournal(name: string): string | null {
  return nameShape.exec(name)?.[1] ?? null;
}

export function printJournal(journal: Journal): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version, ...journal }, null, 1)}\n`);
}

/** @throws Error whose message says what is wrong, and quotes nothing */
export function parseJournal(bytes: Uint8Array): Journal {
  const reader = new RecordReader(parseJsonObject(bytes), 'journal');
  reader.take('version', `${version}`, (value): value is number => value === version);
  const journal: Journal = {
    txId: reader.take('txId', 'a transaction id', isTransactionId),
    fingerprint: reader.take('fingerprint', 'a hash or null', isHashOrNull),
    owner: readOwner(reader.take('owner', 'an object', isObject)),
    phase: reader.take('phase', 'a known phase', isPhase),
    plan: readPlan(reader.take('plan', 'an object', isObject)),
    root: reader.identityOrNull('root'),
    gitDirectory: reader.identityOrNull('gitDirectory'),
  };
  reader.end();
  const complete = journal.phase === 'prepared' || (journal.root !== null && journal.gitDirectory !== null);
  if (!complete) throw new Error('journal lacks an identity');
  return journal;
}

export function isTransactionId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{16,100}$/.test(value);
}

function readOwner(value: object): ProcessOwner {
  const reader = new RecordReader(value, 'journal.owner');
  const owner = {
    pid: reader.take('pid', 'a number in a string', isDecimal),
    startTime: reader.take('startTime', 'a number in a string', isDecimal),
    pidNamespace: reader.take('pidNamespace', 'a number in a string', isDecimal),
    boot: reader.take('boot', 'eight digits', isBoot),
  };
  reader.end();
  return owner;
}

function readPlan(value: object): CreationPlan {
  const reader = new RecordReader(value, 'journal.plan');
  const plan = {
    leaf: reader.take('leaf', 'the name of a directory', isLeaf),
    branch: reader.take('branch', 'a branch name', isBranch),
    oid: reader.take('oid', 'a full object name', isOid),
    ownsBranch: reader.take('ownsBranch', 'true or false', isBoolean),
    intent: reader.take('intent', 'a known intent', isIntent),
    baseOid: reader.take('baseOid', 'a full object name or null', orNull(isOid)),
    baseName: reader.take('baseName', 'a branch name or null', orNull(isBranch)),
    copiedFrom: reader.take('copiedFrom', 'a branch name or null', orNull(isBranch)),
    upstream: reader.take('upstream', 'a branch name or null', orNull(isBranch)),
    sourceTitle: reader.take('sourceTitle', 'a short text or null', orNull(isTitle)),
    pullNumber: reader.take('pullNumber', 'a number or null', orNull(isTime)),
    createdAtMs: reader.take('createdAtMs', 'milliseconds since 1970', isTime),
  };
  reader.end();
  return plan;
}

function orNull<Value>(accepts: (value: unknown) => value is Value) {
  return (value: unknown): value is Value | null => value === null || accepts(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isPhase(value: unknown): value is Journal['phase'] {
  return value === 'prepared' || value === 'added';
}

function isIntent(value: unknown): value is WorktreeIntent {
  return value === 'checkout' || value === 'branch-off' || value === 'pr-checkout';
}

function isLeaf(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9_][a-z0-9._-]{0,120}$/.test(value);
}

function isBranch(value: unknown): value is BranchName {
  return typeof value === 'string' && parseBranchName(value) !== null;
}

function isOid(value: unknown): value is CommitOid {
  return typeof value === 'string' && parseCommitOid(value) === value;
}

function isTitle(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 100;
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value);
}

function isBoot(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}$/.test(value);
}

function isHashOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value));
}
