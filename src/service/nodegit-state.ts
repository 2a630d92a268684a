import { nodegitState } from '../../scripts/nodegit.mjs';
import type { NodegitState } from '../proof/provers.ts';

/**
 * What there is of nodegit in this user's cache. The script comes with the package but is no part of the library: set-up runs it
 * before anything is compiled.
 */
export function currentNodegitState(): NodegitState {
  const found = nodegitState();
  return found.state === 'ready' ? { state: 'ready', path: found.path } : { state: found.state };
}
