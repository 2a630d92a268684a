import type { GitBoundary } from '../capability/file-capability.ts';
import { toStoredIdentity } from '../capability/identity.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { WorkspacePins } from '../registry/workspace-registry.ts';
import type { ClaimedRow, ProofContext } from './proof-context.ts';
import { proveWorkspace } from './prove-workspace.ts';
import { parseSelector } from './selector.ts';

export interface SurveyOptions {
  readonly allowMounts?: boolean;
  readonly signal?: AbortSignal;
}

/** What a row would have to say about a directory that may become a workspace. */
export interface WorkspaceSurvey extends WorkspacePins {
  readonly path: string;
  readonly gitBoundary: GitBoundary;
}

export interface WorkspaceSurveyor {
  /**
   * Proves that the path could be a workspace if it were registered: the same steps as for a registered one, without a row. It must be
   * canonical, a directory, owned by this process's user, and outside Git's and this package's own directories.
   * @throws `workspace_not_registrable` (details.reason: `not-canonical` | `not-a-usable-directory` | `foreign-owner`) | `invalid_request` |
   *   `repository_unsupported` | `prover_unavailable` | `busy` | `storage_failed` | ...
   */
  survey(path: string, options?: SurveyOptions): Promise<WorkspaceSurvey>;
}

export async function surveyWorkspace(
  context: ProofContext,
  path: string,
  options: SurveyOptions,
): Promise<WorkspaceSurvey> {
  if (parse(path) !== path) throw notRegistrable('not-canonical');
  const row = { path, identity: null, gitDirIdentity: null, allowMounts: options.allowMounts ?? false };
  const workspace = await proveOrRefuse(context, row, options.signal);
  try {
    const { held, gitBoundary, repository } = workspace;
    if (held.identity.uid !== context.owner) throw notRegistrable('foreign-owner');
    const separate = repository?.claim.kind === 'separate-git-dir' ? repository.gitDirectory : null;
    const gitDirIdentity = separate && toStoredIdentity(separate.identity());
    return { path, gitBoundary, identity: toStoredIdentity(held.identity), gitDirIdentity };
  } finally {
    workspace.close();
  }
}

async function proveOrRefuse(context: ProofContext, row: ClaimedRow, signal?: AbortSignal) {
  try {
    const { pins: _, ...withoutPins } = context;
    return await proveWorkspace(withoutPins, row, 'registered', null, signal);
  } catch (error) {
    throw isRefusal(error) ? notRegistrable('not-a-usable-directory') : error;
  }
}

function parse(path: string): string | null {
  try {
    return parseSelector(path);
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return isAuthorityError(error) && error.code === 'workspace_not_authorized';
}

function notRegistrable(reason: string): AuthorityError {
  return new AuthorityError('workspace_not_registrable', { details: { reason } });
}
