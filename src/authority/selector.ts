import { AuthorityError } from '../errors/index.ts';

/** Longer paths cannot be opened (path_resolution(7)). */
const maxPathBytes = 4095;

/**
 * Takes a selector as text. It names a directory by absolute path; nothing is expanded: no `~`, no variables (R01).
 * Repeated and trailing slashes and `.` components are spelling, and are dropped.
 * @throws `invalid_request` for text that no path can be: NUL, control characters, lone surrogates | `workspace_not_authorized` for a
 *   selector that is not absolute
 */
export function parseSelector(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) throw invalid('control character');
  if (!text.isWellFormed()) throw invalid('lone surrogate');
  if (!text.startsWith('/') || Buffer.byteLength(text) > maxPathBytes) throw notAuthorized();
  const components = text.split('/').filter((component) => component !== '' && component !== '.');
  return `/${components.join('/')}`;
}

/** The one refusal for every selector that gives no authority, whatever the reason and whether or not something stands there. */
export function notAuthorized(cause?: unknown): AuthorityError {
  return new AuthorityError('workspace_not_authorized', { cause });
}

function invalid(reason: string): AuthorityError {
  return new AuthorityError('invalid_request', { details: { field: 'selector', reason } });
}
