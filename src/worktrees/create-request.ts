import { hash } from 'node:crypto';
import { AuthorityError } from '../errors/index.ts';
import { type BaseRevision, invalidBase, parseBaseRevision } from '../git/base-revision.ts';
import { type BranchName, parseBranchName } from '../git/values.ts';
import { isTransactionId } from './journal.ts';

/** What a caller asks for (wire contract, 1.2). */
export interface CreateWorktreeRequest {
  /** Default `checkout`. */
  readonly intent?: 'checkout' | 'branch-off';
  /** Where a new branch begins; with `checkout` and without `branchName` the branch itself. Default: the default branch. */
  readonly base?: string;
  /** The branch to check out, or the name of the new one, which gets a number when it is taken. */
  readonly branchName?: string;
  /** Where there is no `branchName`, a text to make one from. */
  readonly slug?: string;
  /** Title of the workspace that the worktree is made from, cut at 100 characters. */
  readonly sourceTitle?: string;
  /** A pull request that the forge knows. */
  readonly pull?: PullSelector;
  /** Of two requests with the same id the second one gets the answer of the first. Together with `sourceSessionId`. */
  readonly txId?: string;
  /** The session that asks; it must have been created in the selector. */
  readonly sourceSessionId?: string;
}

/** Only `number` and the repository are believed; what it leads to is asked of the forge. */
export interface PullSelector {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly headRef: string;
  readonly baseRef?: string | null;
  readonly forkOwner?: string | null;
}

/** The request with its values parsed. */
export interface ParsedRequest {
  readonly intent: 'checkout' | 'branch-off';
  readonly pull: PullSelector | null;
  readonly base: BaseRevision | null;
  readonly branchName: BranchName | null;
  readonly slug: string | null;
  readonly sourceTitle: string | null;
  /** Null where nobody can ask again. */
  readonly transaction: { readonly txId: string; readonly sourceSessionId: string } | null;
}

const longestTitle = 100;

/**
 * @throws `invalid_request` | `invalid_base_revision` | `invalid_branch_name`
 */
export function parseCreateRequest(request: CreateWorktreeRequest): ParsedRequest {
  const { intent = 'checkout', base, branchName, slug, sourceTitle, pull } = request;
  const title = sourceTitle?.trim().slice(0, longestTitle).toWellFormed() || null;
  const parsed: ParsedRequest = {
    intent,
    pull: pull ?? null,
    base: base === undefined ? null : parseBase(base),
    branchName: branchName === undefined ? null : parseBranch(branchName),
    slug: slug?.trim() || null,
    sourceTitle: title,
    transaction: parseTransaction(request),
  };
  if (pull !== undefined) {
    parseBranch(pull.headRef);
    if (typeof pull.baseRef === 'string') parseBase(pull.baseRef);
  }
  return parsed;
}

/**
 * Names what was asked for, without what is only shown: a workspace that is renamed between two tries does not make them different
 * requests (W43).
 */
export function fingerprintOf(cwd: string, request: CreateWorktreeRequest): string {
  const { base = null, branchName = null, slug = null, sourceSessionId = null, pull } = request;
  const asked = {
    cwd,
    base,
    branchName,
    slug,
    sourceSessionId,
    intent: pull === undefined ? (request.intent ?? 'checkout') : 'pr-checkout',
    pull: pull === undefined ? null : [pull.host, pull.owner, pull.repo, pull.number],
  };
  return hash('sha256', JSON.stringify(asked), 'hex');
}

function parseTransaction({ txId, sourceSessionId }: CreateWorktreeRequest): ParsedRequest['transaction'] {
  if (txId === undefined && sourceSessionId === undefined) return null;
  if (!isTransactionId(txId)) throw invalid('txId');
  if (sourceSessionId === undefined || !/^[A-Za-z0-9_-]{8,120}$/.test(sourceSessionId))
    throw invalid('sourceSessionId');
  return { txId, sourceSessionId };
}

function parseBase(text: string): BaseRevision {
  const base = parseBaseRevision(text);
  if (base === null) throw invalidBase('malformed');
  return base;
}

function parseBranch(text: string): BranchName {
  const branch = parseBranchName(text);
  if (branch === null) throw new AuthorityError('invalid_branch_name');
  return branch;
}

function invalid(field: string): AuthorityError {
  const details = { field, reason: 'invalid' };
  return new AuthorityError('invalid_request', { details, legacy: 'invalid worktree request' });
}
