/** The parts of GitHub's answers that are used, once checked, as its OpenAPI description and its GraphQL schema write them. */
export interface RepositoryName {
  readonly name: string;
  readonly owner: { readonly login: string };
}

export interface RepositoryAnswer extends RepositoryName {
  readonly id: string;
  readonly default_branch?: string | null | undefined;
  readonly parent?: RepositoryName | null | undefined;
}

interface ItemAnswer {
  readonly number: number;
  readonly title: string;
  readonly html_url: string;
  readonly state: 'open' | 'closed';
  readonly body?: string | null | undefined;
  readonly labels: readonly (string | { readonly name?: string | null | undefined })[];
  readonly updated_at?: string | null | undefined;
}

export interface IssueAnswer extends ItemAnswer {
  /** There for a pull request only. */
  readonly pull_request?: unknown;
}

export interface PullAnswer extends ItemAnswer {
  readonly node_id: string;
  readonly draft?: boolean | undefined;
  readonly merged_at: string | null;
  readonly base: { readonly ref: string; readonly repo: { readonly id: string } };
  readonly head: {
    readonly ref: string;
    readonly sha: string;
    readonly repo: { readonly id: string; readonly owner: { readonly login: string } } | null;
  };
}

export interface MergeAnswer {
  readonly merged: true;
  readonly sha?: string | null | undefined;
}

export interface MergedPullAnswer {
  readonly number: number;
  readonly isCrossRepository: boolean;
  readonly headRefName: string;
  readonly headRefOid: string;
}

type CountByState = readonly { readonly state: string; readonly count: number }[] | null | undefined;

export interface RollupAnswer {
  readonly state: 'SUCCESS' | 'FAILURE' | 'ERROR' | 'PENDING' | 'EXPECTED';
  readonly contexts: {
    readonly totalCount: number;
    readonly checkRunCountsByState?: CountByState;
    readonly statusContextCountsByState?: CountByState;
  };
}

export interface BranchPullAnswer extends MergedPullAnswer {
  readonly url: string;
  readonly title: string;
  readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
  readonly isDraft: boolean;
  readonly baseRefName: string;
  readonly headRepositoryOwner: { readonly login: string } | null;
  readonly mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
  readonly reviewDecision: string | null;
  readonly commits: {
    readonly nodes: readonly { readonly commit: { readonly statusCheckRollup: RollupAnswer | null } }[];
  };
}

export interface PartsAnswer<Part> {
  readonly repository: Readonly<Record<string, { readonly nodes: readonly Part[] }>>;
}
