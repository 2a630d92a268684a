import type { ActionContext } from './action-context.ts';
import { commit } from './commit.ts';
import { fetch } from './fetch.ts';
import { push } from './push.ts';
import type { RepositoryActions } from './repository-actions.ts';

export function createRepositoryActions(context: ActionContext): RepositoryActions {
  return {
    commit: (selector, request, signal) => commit(context, selector, request, signal),
    fetch: (selector, signal) => fetch(context, selector, signal),
    push: (selector, signal) => push(context, selector, signal),
  };
}
