import { AuthorityError, type ErrorCode } from '../../src/errors/index.ts';
import type { Forge, ForgeAuthentication, ForgeItem, PullDetail } from '../../src/forge/forge.ts';
import { parseBranchName, parseCommitOid } from '../../src/git/values.ts';

export type Side = 'pulls' | 'issues';

/** A forge in memory, as far as reads go; what would change one is refused. */
export interface MemoryForge {
  readonly forge: Forge;
  readonly pulls: PullDetail[];
  readonly issues: ForgeItem[];
  /** What was asked of it, e.g. `pulls o/r 7`. */
  readonly asked: string[];
  /** Of each host. */
  authentication: ForgeAuthentication;
  /** Seconds that a limit names. */
  retryAfter: number;
  /** Which code each kind fails with. */
  readonly failing: Map<Side, ErrorCode>;
  /** Back to an empty forge that answers. */
  reset(): void;
}

export function createMemoryForge(): MemoryForge {
  const refuse = (): Promise<never> => Promise.reject(new AuthorityError('forge_refused'));
  const answer = async <Item>(side: Side, items: readonly Item[]): Promise<readonly Item[]> => {
    const code = memory.failing.get(side);
    if (code !== undefined) throw new AuthorityError(code, { details: { retryAfter: memory.retryAfter } });
    return items;
  };
  const numbered = <Item extends ForgeItem>(items: readonly Item[], number: number): Item => {
    const item = items.find((one) => one.number === number);
    if (item === undefined) throw new AuthorityError('forge_not_found');
    return item;
  };
  const memory: MemoryForge = {
    pulls: [],
    issues: [],
    asked: [],
    authentication: 'authenticated',
    retryAfter: 1,
    failing: new Map(),
    reset() {
      memory.pulls.length = 0;
      memory.issues.length = 0;
      memory.asked.length = 0;
      memory.authentication = 'authenticated';
      memory.retryAfter = 1;
      memory.failing.clear();
    },
    forge: {
      authentication: async (host) => {
        memory.asked.push(`authentication ${host}`);
        return memory.authentication;
      },
      pulls: ({ owner, repo }, limit) => {
        memory.asked.push(`pulls ${owner}/${repo} ${limit}`);
        return answer('pulls', memory.pulls.slice(0, limit));
      },
      issues: ({ owner, repo }, limit) => {
        memory.asked.push(`issues ${owner}/${repo} ${limit}`);
        return answer('issues', memory.issues.slice(0, limit));
      },
      pull: async ({ owner, repo }, number) => {
        memory.asked.push(`pull ${owner}/${repo} ${number}`);
        return numbered(await answer('pulls', memory.pulls), number);
      },
      issue: async (_name, number) => numbered(await answer('issues', memory.issues), number),
      repository: refuse,
      openPullsOf: refuse,
      branchPulls: refuse,
      mergedPulls: refuse,
      createPull: refuse,
      mergePull: refuse,
      enableAutoMerge: refuse,
      disableAutoMerge: refuse,
      invalidate: () => undefined,
    },
  };
  return memory;
}

export function issueOf(number: number, updatedAt: string | null): ForgeItem {
  return {
    kind: 'issue',
    number,
    title: `title ${number}`,
    url: `https://forge.example/o/r/issues/${number}`,
    state: 'open',
    body: null,
    labels: ['one'],
    updatedAt,
  };
}

export function pullOf(number: number, updatedAt: string | null, owner = 'o'): PullDetail {
  const [base, head, oid] = [
    parseBranchName('main'),
    parseBranchName(`topic-${number}`),
    parseCommitOid('a'.repeat(40)),
  ];
  if (base === null || head === null || oid === null) throw new Error('no names');
  return {
    ...issueOf(number, updatedAt),
    kind: 'change_request',
    isDraft: false,
    baseRefName: base,
    headRefName: head,
    headOwnerLogin: owner,
    fork: owner !== 'o',
    headRefOid: oid,
    headRepositoryId: '7',
    nodeId: `node-${number}`,
  };
}
