import { Octokit } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { z } from 'zod';
import { AuthorityError } from '../errors/index.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { ForgeHost } from './forge-hosts.ts';
import { readFailureOf } from './github-failures.ts';

export interface GitHubAnswer {
  readonly data: unknown;
  readonly etag: string | null;
}

export interface GitHubQuestion {
  /** As Octokit writes it, e.g. `GET /repos/{owner}/{repo}`. */
  readonly route: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly etag?: string;
  readonly signal?: AbortSignal | undefined;
}

const Client = Octokit.plugin(retry, throttling);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
/** Network failures come as 500 and are not asked again: their deadline is spent. */
const notAgain = [304, 400, 401, 403, 404, 405, 409, 410, 422, 429, 451, 500];

const graphqlAnswer = z.object({
  data: z.unknown().optional(),
  errors: z.array(z.object({ type: z.string().optional(), message: z.string().optional() })).optional(),
});

/** Asks one GitHub. Questions wait for one another as GitHub wants it; limits that are met are told and never waited for. */
export class GitHubClient {
  readonly #host: ForgeHost;
  readonly #octokit: InstanceType<typeof Client>;

  constructor(host: ForgeHost) {
    this.#host = host;
    const { origin } = new URL(host.apiUrl);
    this.#octokit = new Client({
      baseUrl: host.apiUrl.replace(/\/+$/, ''),
      userAgent: 'workspace-authority',
      log: silent,
      request: { fetch: (url: string, request?: RequestInit) => boundedFetch(origin, url, request) },
      retry: { retries: 1, retryAfterBaseValue: 250, doNotRetry: notAgain },
      throttle: { id: origin, onRateLimit: () => false, onSecondaryRateLimit: () => false },
    });
  }

  async hasToken(): Promise<boolean> {
    return ((await this.#host.token()) ?? '') !== '';
  }

  /** @throws what Octokit throws for an answer that is none, or an `AuthorityError`; a caller maps it by `github-failures.ts` */
  async ask({ route, parameters = {}, etag, signal }: GitHubQuestion): Promise<GitHubAnswer> {
    signal?.throwIfAborted();
    const token = await this.#host.token();
    if (!token) throw new AuthorityError('forge_unauthenticated');
    const { data, headers } = await this.#octokit.request(route, {
      ...parameters,
      headers: {
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      request: {
        ...(signal === undefined ? {} : { signal }),
        ...(route.startsWith('GET ') ? {} : { retries: 0 }),
      },
    });
    return { data, etag: headers.etag ?? null };
  }

  /**
   * All of the data, or an error: what is there in part is not an answer.
   * @throws as `ask`; `onRefusal` makes the error of what the forge says of its own question
   */
  async graphql(
    query: string,
    variables: Readonly<Record<string, unknown>>,
    onRefusal: (type: string | null, message: string) => AuthorityError,
    signal?: AbortSignal,
  ): Promise<unknown> {
    // GitHub Enterprise keeps it beside the REST interface: /api/v3 and /api/graphql.
    const baseUrl = this.#host.apiUrl.replace(/\/+$/, '').replace(/\/api\/v3$/, '/api');
    const question = { route: 'POST /graphql', parameters: { baseUrl, query, variables }, signal };
    const answer = await this.ask(question).catch((error: unknown) => {
      throw readFailureOf(error);
    });
    const parsed = graphqlAnswer.safeParse(answer.data);
    if (!parsed.success) throw new AuthorityError('forge_response_invalid', { details: { reason: 'shape' } });
    const [first] = parsed.data.errors ?? [];
    if (first !== undefined) throw onRefusal(first.type ?? null, first.message ?? '');
    return parsed.data.data;
  }
}

/** The error of a question for reading that the forge refuses. */
export function graphqlFailureOf(type: string | null): AuthorityError {
  if (type === 'NOT_FOUND') return new AuthorityError('forge_not_found');
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES')
    return new AuthorityError('forge_unauthenticated');
  return new AuthorityError('forge_response_invalid', { details: { reason: 'graphql' } });
}
