import { AuthorityError } from '../errors/index.ts';
import type { BaseVersion, FileVersion } from './workspace-files.ts';

const sha1Shape = /^[0-9a-f]{40}$/i;

/** What stands under a path when a change is refused; nulls when nothing readable does. */
export interface StandingVersion {
  readonly sha1: string | null;
  readonly etag: string | null;
  readonly size: number | null;
}

export const nothingStanding: StandingVersion = { sha1: null, etag: null, size: null };

/**
 * Asked only after the path itself was found good.
 * @throws `precondition_required` when no version is named | `invalid_request` for a hash that cannot be one
 */
export function assertNamesVersion(base: BaseVersion): void {
  if (base.sha1 === undefined && base.etag === undefined) throw new AuthorityError('precondition_required');
  if (base.sha1 !== undefined && !sha1Shape.test(base.sha1)) {
    throw new AuthorityError('invalid_request', { details: { field: 'base.sha1' } });
  }
}

/**
 * Every given part must hold (R13). The hash is compared in any case; the entity tag exactly, so a weak one never matches (RFC 9110,
 * 13.1.1).
 * @throws `conflict` when the hash is stale | `precondition_failed` when only the entity tag is
 */
export function assertCurrentBase(base: BaseVersion, standing: FileVersion): void {
  const { staleHash, staleTag } = compare(base, standing);
  if (staleHash) throw staleBase({ sha1: base.sha1 as string }, standing, []);
  if (staleTag) throw staleBase({ etag: base.etag as string }, standing, []);
}

/** Whether that is the version that the change names. */
export function isCurrentBase(base: BaseVersion, standing: FileVersion): boolean {
  const named = base.sha1 !== undefined || base.etag !== undefined;
  const { staleHash, staleTag } = compare(base, standing);
  return named && !staleHash && !staleTag;
}

function compare(base: BaseVersion, standing: FileVersion) {
  const staleHash = base.sha1 !== undefined && base.sha1.toLowerCase() !== standing.sha1;
  const staleTag = base.etag !== undefined && base.etag !== standing.etag;
  return { staleHash, staleTag };
}

/** The refusal of a change whose base does not stand any more. `kept`: recovery files that the attempt left beside. */
export function staleBase(
  base: BaseVersion,
  { sha1, etag, size }: StandingVersion,
  kept: readonly string[],
): AuthorityError {
  const code = base.sha1 === undefined ? 'precondition_failed' : 'conflict';
  return new AuthorityError(code, { details: { sha1, etag, size, kept } });
}
