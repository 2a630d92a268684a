/** One setting as Git lists it. All text is Latin-1, one character a byte. */
export interface Setting {
  /** Where Git found it: `local`, `worktree`, `command` (our own), or another file of the machine. */
  readonly scope: string;
  /** Lower case. */
  readonly section: string;
  /** As written; null without one. */
  readonly subsection: string | null;
  /** Lower case. */
  readonly variable: string;
  /** Null for a key without `=`, which Git reads as true. */
  readonly value: string | null;
}

/**
 * Reads `git config --list -z --show-scope`: scope and setting end with NUL, a newline parts key and value (git-config(1)), and no key
 * can hold either. Null when the output has another form.
 */
export function parseSettings(output: Buffer): readonly Setting[] | null {
  const fields = output.toString('latin1').split('\0');
  if (fields.pop() !== '' || fields.length % 2 !== 0) return null;
  const settings: Setting[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const setting = parseSetting(fields[index] as string, fields[index + 1] as string);
    if (setting === null) return null;
    settings.push(setting);
  }
  return settings;
}

function parseSetting(scope: string, text: string): Setting | null {
  const newline = text.indexOf('\n');
  const key = newline === -1 ? text : text.slice(0, newline);
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  if (first < 1 || last === key.length - 1) return null;
  return {
    scope,
    section: key.slice(0, first).toLowerCase(),
    subsection: first === last ? null : key.slice(first + 1, last),
    variable: key.slice(last + 1).toLowerCase(),
    value: newline === -1 ? null : text.slice(newline + 1),
  };
}
