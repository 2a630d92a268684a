/** Sum of a diff. Binary files count as files, without lines. */
export interface DiffStat {
  readonly additions: number;
  readonly deletions: number;
  readonly files: number;
}

/**
 * Adds up `git diff --numstat -z --no-renames`: one record a file, `<added> TAB <deleted> TAB <path>`, with `-` for both numbers of a
 * binary file (git-diff(1), "Other diff formats"). Null when the output has another form.
 */
export function sumNumstat(output: Buffer): DiffStat | null {
  if (output.length === 0) return { additions: 0, deletions: 0, files: 0 };
  const records = output.toString('latin1').split('\0');
  if (records.pop() !== '') return null;
  let [additions, deletions] = [0, 0];
  for (const record of records) {
    const numbers = /^(?:(\d+)\t(\d+)|-\t-)\t[\s\S]/.exec(record);
    if (numbers === null) return null;
    additions += Number(numbers[1] ?? 0);
    deletions += Number(numbers[2] ?? 0);
  }
  return { additions, deletions, files: records.length };
}
