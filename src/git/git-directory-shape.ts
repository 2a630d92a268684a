/**
 * The names whose presence together makes a directory a Git directory, whatever it is called (gitrepository-layout(5)): a bare
 * repository, a separate Git dir or a common dir.
 */
export const gitDirectoryShape: readonly string[] = ['HEAD', 'objects', 'refs'];

/** The names that make a directory the administrative directory of a linked worktree (gitrepository-layout(5), worktrees/<id>). */
export const worktreeAdministrationShape: readonly string[] = ['HEAD', 'commondir', 'gitdir'];
