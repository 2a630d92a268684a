/**
 * What makes the form of a diff the same under every configuration (W30): `--raw -z` says which files, the patch what lines. No
 * program runs for it: no external diff, no text conversion, and only commits of submodules are compared, so that Git never starts
 * itself in a directory whose configuration nobody has looked at (git-diff(1), gitmodules(5)).
 */
export const diffArguments: readonly string[] = [
  '--raw',
  '-z',
  '--patch',
  '--no-abbrev',
  '--full-index',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-color-moved',
  '--ws-error-highlight=none',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--no-relative',
  '--unified=3',
  '--inter-hunk-context=0',
  '--no-function-context',
  '--diff-algorithm=myers',
  '--indent-heuristic',
  '--submodule=short',
  '--ignore-submodules=dirty',
  '--find-renames=50%',
  // Among the files that changed too; a copy of an untouched file is an addition.
  '--find-copies=50%',
  '-l1000',
  // Cancels diff.orderFile.
  '-O/dev/null',
];

/** Settings of diffs that have no argument. The index is left as it is: a read changes nothing. */
export const diffSettings: readonly string[] = [
  'diff.suppressBlankEmpty=false',
  'diff.autoRefreshIndex=false',
];

/** The same for a diff that is only counted. Renames are not looked for: a moved file counts as removed and added lines. */
export const diffNumberArguments: readonly string[] = [
  '--numstat',
  '-z',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--diff-algorithm=myers',
  '--indent-heuristic',
  '--ignore-submodules=dirty',
  '-O/dev/null',
];
