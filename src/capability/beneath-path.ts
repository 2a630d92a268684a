import { AuthorityError } from '../errors/index.ts';

declare const beneathBrand: unique symbol;

/** A relative path of plain components, checked by `parseBeneathPath`: safe to hand to an operation under a capability. */
export type BeneathPath = string & { readonly [beneathBrand]: true };

/** Linux limits (path_resolution(7), limits.h): a component of 255 bytes, a path of 4,095. */
const maxComponentBytes = 255;
const maxPathBytes = 4095;

/**
 * Parses what a caller sent as a path below a workspace root (R10). Nothing is cleaned up: a path that needs cleaning is refused.
 * Whether a name is administrative is decided later, by the capability it is used with.
 * @throws `path_outside_workspace` for an absolute path or one whose `..` leaves the root | `invalid_path` (details.reason) for an empty
 *   path, an empty, `.` or inner `..` component, NUL, a lone surrogate, or a name over the system's limits
 */
export function parseBeneathPath(text: string): BeneathPath {
  if (text.includes('\0')) throw refuse('nul');
  if (!text.isWellFormed()) throw refuse('lone surrogate');
  if (text === '') throw refuse('empty');
  if (text.startsWith('/')) throw new AuthorityError('path_outside_workspace');
  let depth = 0;
  let inexact: string | null = null;
  for (const component of text.split('/')) {
    if (component === '..') depth -= 1;
    else if (component !== '' && component !== '.') depth += 1;
    if (depth < 0) throw new AuthorityError('path_outside_workspace');
    if (component === '') inexact = 'empty component';
    else if (component === '.' || component === '..') inexact = 'dot component';
    else if (Buffer.byteLength(component) > maxComponentBytes) inexact = 'name too long';
  }
  if (inexact !== null) throw refuse(inexact);
  if (Buffer.byteLength(text) > maxPathBytes) throw refuse('path too long');
  return text as BeneathPath;
}

function refuse(reason: string): AuthorityError {
  return new AuthorityError('invalid_path', { details: { reason } });
}
