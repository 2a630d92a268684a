import { commit } from './commit.ts';
import { type DiscardContext, discard } from './discard.ts';
import { listDiscarded, restoreDiscarded } from './discarded.ts';
import { fetch } from './fetch.ts';
import { mergeToBase } from './merge-to-base.ts';
import { pull } from './pull.ts';
import { push } from './push.ts';
import type { RepositoryActions } from './repository-actions.ts';
import { updateFromBase } from './update-from-base.ts';

export function createRepositoryActions(context: DiscardContext): RepositoryActions {
  return {
    commit: (selector, request, signal) => commit(context, selector, request, signal),
    fetch: (selector, signal) => fetch(context, selector, signal),
    push: (selector, signal) => push(context, selector, signal),
    pull: (selector, signal) => pull(context, selector, signal),
    updateFromBase: (selector, signal) => updateFromBase(context, selector, signal),
    mergeToBase: (selector, signal) => mergeToBase(context, selector, signal),
    discard: (selector, request = {}, signal) => discard(context, selector, request, signal),
    discarded: (selector, signal) => listDiscarded(context, selector, signal),
    restoreDiscarded: (selector, request, signal) => restoreDiscarded(context, selector, request, signal),
  };
}
