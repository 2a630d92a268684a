import type { AuthorityError } from './authority-error.ts';
import type { ErrorCode } from './codes.ts';

const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'workspace_not_authorized',
  'git_root_not_authorized',
  'repository_unsupported',
  'repository_identity_changed',
  'workspace_owner_mismatch',
]);

/** Whether an error says that a selector has no authority. Any other says that it cannot be judged now, which is no authority either (R04). */
export function endsAuthority({ code }: AuthorityError): boolean {
  return refusals.has(code);
}
