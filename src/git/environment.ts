/** Where Git finds programs; fixed, so that nobody's PATH decides which Git runs. */
export const programSearchPath = '/usr/local/bin:/usr/bin:/bin';

/** A home that does not exist: Git and ssh then find no user configuration. */
const noHome = '/nonexistent';

/** Directories a Git process is pinned to, as descriptor paths of held handles. */
export interface GitPins {
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  readonly workTree: string;
}

/**
 * The whole environment of a proof read, built from nothing: no variable of this process reaches Git, so GIT_DIR, GIT_CONFIG_COUNT,
 * SUDO_UID, LD_PRELOAD or a user's safe.directory cannot change an answer (git(1), git-config(1)).
 */
export function proofReadEnvironment(place: ProofReadPlace): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: programSearchPath,
    HOME: noHome,
    XDG_CONFIG_HOME: noHome,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    GIT_EDITOR: '/bin/false',
    GIT_SEQUENCE_EDITOR: '/bin/false',
    GIT_PAGER: 'cat',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
  };
  if (place.ceilingDirectory !== undefined) environment['GIT_CEILING_DIRECTORIES'] = place.ceilingDirectory;
  if (place.pins !== undefined) {
    environment['GIT_DIR'] = place.pins.gitDirectory;
    environment['GIT_COMMON_DIR'] = place.pins.commonDirectory;
    environment['GIT_WORK_TREE'] = place.pins.workTree;
  }
  return environment;
}

export interface ProofReadPlace {
  /** Git looks for a repository no higher than just below this directory. */
  readonly ceilingDirectory?: string;
  /** Without pins Git finds the repository by itself, which is what a proof asks it to do. */
  readonly pins?: GitPins;
}
