/** A path as Latin-1 text, one character a byte. */
export interface SplitPath {
  /** `.` at the top. */
  readonly parent: string;
  readonly name: string;
}

export function splitPath(path: string): SplitPath {
  const slash = path.lastIndexOf('/');
  return slash === -1
    ? { parent: '.', name: path }
    : { parent: path.slice(0, slash), name: path.slice(slash + 1) };
}

export function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

/** For people. Undecodable bytes become U+FFFD. */
export function shownPath(latin1: string): string {
  return bytesOf(latin1).toString('utf8');
}

/** Plain relative bytes: no empty, `.` or `..` component, and no NUL. */
export function isPlainPath(latin1: string): boolean {
  if (latin1 === '' || /[\0\u0100-\uffff]/.test(latin1)) return false;
  return latin1.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
