import type { WorkspaceSurveyor } from '../authority/survey-workspace.ts';
import type { StateDirectory } from '../capability/state-directory.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { WorkspacePins } from '../registry/workspace-registry.ts';

export interface RegistrabilityOptions {
  readonly surveyor: WorkspaceSurveyor;
  /** Neither it nor what lies in it is a workspace; a directory that contains it may be one. */
  readonly state: StateDirectory;
}

/**
 * Proves that a directory may be a workspace; resolves with the identities to pin.
 * @throws `workspace_not_registrable` (details.reason) | `workspace_owner_mismatch` | `repository_unsupported` | `prover_unavailable` | ...
 */
export async function proveRegistrable(
  { surveyor, state }: RegistrabilityOptions,
  path: string,
  allowMounts: boolean,
): Promise<WorkspacePins> {
  if (path === '/') throw notRegistrable('root-directory');
  // Opened, it would lead somewhere; as a row it would name nothing.
  if (path.split('/').includes('..')) throw notRegistrable('not-canonical');
  if (isInState(path, state)) throw notRegistrable('state-directory');
  try {
    const { identity, gitDirIdentity } = await surveyor.survey(path, { allowMounts });
    return { identity, gitDirIdentity };
  } catch (error) {
    throw translate(error);
  }
}

/**
 * Only tells the reason apart; that the state directory is refused under any other name too is up to the survey, which compares
 * identities.
 */
function isInState(path: string, state: StateDirectory): boolean {
  if (path === state.path) return true;
  if (!path.startsWith(`${state.path}/`)) return false;
  const [first, ...rest] = path.slice(state.path.length + 1).split('/');
  return first !== 'worktrees' || rest.length < 2;
}

/** Properties of the place, not of a repository in it. */
const placeReasons = new Set(['git-directory', 'bare-repository']);

function translate(error: unknown): unknown {
  if (!isAuthorityError(error)) return error;
  const reason = String(error.details['reason']);
  if (error.code === 'repository_unsupported' && placeReasons.has(reason))
    return notRegistrable(reason, error);
  if (reason === 'foreign-owner') return new AuthorityError('workspace_owner_mismatch', { cause: error });
  return error;
}

export function notRegistrable(reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('workspace_not_registrable', { details: { reason }, cause });
}
