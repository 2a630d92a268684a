/**
 * Whether a path is an absolute path in its one spelling: no empty, `.` or `..` component, no slash at the end, no NUL, no lone
 * surrogate. `/` itself is none: it is never a workspace. Says nothing about what stands there.
 */
export function isCanonicalForm(path: string): boolean {
  if (!path.startsWith('/') || path.includes('\0') || !path.isWellFormed()) return false;
  return path
    .slice(1)
    .split('/')
    .every((component) => component !== '' && component !== '.' && component !== '..');
}
