/** One path of `git status --porcelain=v2 -z` that is not as the last commit has it. Latin-1, one character a byte. */
export interface StatusRecord {
  readonly kind: 'changed' | 'unmerged' | 'untracked' | 'ignored';
  /** Index against HEAD, then work tree against index; `.` means the same. Both `?` or `!` where Git tracks nothing. */
  readonly staged: string;
  readonly unstaged: string;
  readonly path: string;
}

const kinds = { '1': 'changed', u: 'unmerged', '?': 'untracked', '!': 'ignored' } as const;

/** Spaces before the path of each kind of record (git-status(1)). */
const fieldsBeforePath = { '1': 8, u: 10, '?': 1, '!': 1 } as const;

/** Null when the output has another form, also for renames, which are not asked for. */
export function parseStatusRecords(output: Buffer): readonly StatusRecord[] | null {
  const lines = output.toString('latin1').split('\0');
  if (lines.pop() !== '') return null;
  const records: StatusRecord[] = [];
  for (const line of lines) {
    if (line.startsWith('# ')) continue;
    const letter = line.charAt(0);
    if (!isKind(letter)) return null;
    const path = afterFields(line, fieldsBeforePath[letter]);
    if (path === '') return null;
    const codes = fieldsBeforePath[letter] === 1 ? letter + letter : line.slice(2, 4);
    records.push({ kind: kinds[letter], staged: codes.charAt(0), unstaged: codes.charAt(1), path });
  }
  return records;
}

function isKind(letter: string): letter is keyof typeof kinds {
  return Object.hasOwn(kinds, letter);
}

function afterFields(line: string, count: number): string {
  let position = 0;
  for (let field = 0; field < count; field += 1) {
    const space = line.indexOf(' ', position);
    if (space === -1) return '';
    position = space + 1;
  }
  return line.slice(position);
}
