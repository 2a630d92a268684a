import { AuthorityError } from '../errors/index.ts';
import type { ForgeIdentity } from '../git/remote-address.ts';
import { type CommitOid, parseBranchName, parseCommitOid } from '../git/values.ts';
import type { BranchPull, ChecksSummary, ForgeItem, PullDetail, PullItem } from './forge.ts';
import type { BranchPullAnswer, IssueAnswer, PullAnswer, RepositoryName } from './github-answer-types.ts';

/** @throws `forge_response_invalid` */
export function issueOf(host: string, answer: IssueAnswer): ForgeItem {
  return { kind: 'issue', ...common(host, answer), state: answer.state };
}

/** @throws `forge_response_invalid` for a commit or an address that is none */
export function pullOf(host: string, answer: PullAnswer): PullItem {
  const { head, base } = answer;
  return {
    kind: 'change_request',
    ...common(host, answer),
    state: answer.merged_at === null ? answer.state : 'merged',
    isDraft: answer.draft ?? false,
    baseRefName: parseBranchName(base.ref),
    headRefName: parseBranchName(head.ref),
    headOwnerLogin: head.repo?.owner.login ?? null,
    fork: head.repo === null ? null : head.repo.id !== base.repo.id,
    headRefOid: oidOf(head.sha),
  };
}

/** @throws `forge_response_invalid` also where the head or the base is no branch name */
export function pullDetailOf(host: string, answer: PullAnswer): PullDetail {
  const { baseRefName, headRefName, ...pull } = pullOf(host, answer);
  if (baseRefName === null || headRefName === null) throw invalid('ref-name');
  const headRepositoryId = answer.head.repo?.id ?? null;
  return { ...pull, baseRefName, headRefName, headRepositoryId, nodeId: answer.node_id };
}

/** @throws `forge_response_invalid` */
export function branchPullOf(host: string, answer: BranchPullAnswer): BranchPull {
  const { number, title, isDraft, mergeable, reviewDecision } = answer;
  return {
    number,
    url: urlOf(host, answer.url),
    title,
    state: answer.state === 'OPEN' ? 'open' : answer.state === 'MERGED' ? 'merged' : 'closed',
    isDraft,
    baseRefName: parseBranchName(answer.baseRefName),
    headRefName: parseBranchName(answer.headRefName),
    headRefOid: oidOf(answer.headRefOid),
    headOwnerLogin: answer.headRepositoryOwner?.login ?? null,
    mergeable,
    reviewDecision,
    checks: checksOf(answer),
  };
}

/** @throws `forge_response_invalid` */
export function oidOf(text: string): CommitOid {
  const oid = parseCommitOid(text);
  if (oid === null) throw invalid('oid');
  return oid;
}

/** @throws `forge_response_invalid` for names that no address could hold */
export function identityOf(host: string, name: RepositoryName): ForgeIdentity {
  const isName = (text: string) => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(text);
  if (!isName(name.owner.login) || !isName(name.name)) throw invalid('repository-name');
  return { host, owner: name.owner.login, repo: name.name };
}

const unfinished: ReadonlySet<string> = new Set([
  'QUEUED',
  'IN_PROGRESS',
  'WAITING',
  'PENDING',
  'REQUESTED',
  'EXPECTED',
]);

function checksOf({ commits }: BranchPullAnswer): ChecksSummary {
  const rollup = commits.nodes[0]?.commit.statusCheckRollup ?? null;
  if (rollup === null || rollup.contexts.totalCount === 0) return { status: 'none', completed: 0, total: 0 };
  const { totalCount: total, checkRunCountsByState, statusContextCountsByState } = rollup.contexts;
  const counts = [...(checkRunCountsByState ?? []), ...(statusContextCountsByState ?? [])];
  const open = counts.reduce((sum, { state, count }) => sum + (unfinished.has(state) ? count : 0), 0);
  const isFailure = rollup.state === 'FAILURE' || rollup.state === 'ERROR';
  const status = rollup.state === 'SUCCESS' ? 'success' : isFailure ? 'failure' : 'pending';
  return { status, completed: Math.max(total - open, 0), total };
}

function common(host: string, answer: IssueAnswer | PullAnswer) {
  const labels = answer.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')));
  return {
    number: answer.number,
    title: answer.title,
    url: urlOf(host, answer.html_url),
    body: answer.body ?? null,
    labels: labels.filter((label) => label !== ''),
    updatedAt: answer.updated_at ?? null,
  };
}

/** People follow it: it leads to the forge and nowhere else. */
function urlOf(host: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isWeb || url.hostname !== host || url.username !== '') throw invalid('address');
  return url.href;
}

function invalid(reason: string): AuthorityError {
  return new AuthorityError('forge_response_invalid', { details: { reason } });
}
