import { AuthorityError } from '../errors/index.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';

/** What was proven may be evicted before it is lent; so often in a row means that the cache is far too small. */
const attempts = 8;

/**
 * Lends what a cache keeps, in the same step in which it is found open.
 * @throws `busy` when it is evicted again and again | what `obtain` throws
 */
export async function lendProven<Lent>(
  obtain: () => Promise<ProvenWorkspace>,
  lend: (workspace: ProvenWorkspace) => Lent,
): Promise<Lent> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const workspace = await obtain();
    if (!workspace.isClosed) return lend(workspace);
  }
  throw new AuthorityError('busy', { details: { what: 'workspace cache' } });
}
