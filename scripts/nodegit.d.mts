/** What there is of nodegit on this machine. `path` is the directory to load, in this user's cache. */
export type NodegitState =
  | { readonly state: 'ready'; readonly path: string }
  | { readonly state: 'building'; readonly pid: number }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'absent' };

export interface NodegitBuildOptions {
  /** Lets apt-get install what the build lacks. Default false: then the state names the command to run. */
  readonly installSystemPackages?: boolean;
}

/**
 * Looks, and never builds, waits or throws. The first answer for a ready build checks every byte of it
 * (about 0.1 s, synchronous); later ones cost a few stat(2) calls while it stays unchanged.
 */
export function nodegitState(): NodegitState;

/** Starts a build that outlives this process, unless nodegit is ready or a build is under way. Never throws. */
export function startNodegitBuild(options?: NodegitBuildOptions): NodegitState;

/** Builds nodegit, or waits for a build under way (minutes; progress on standard error). `ready` or `failed`. */
export function ensureNodegit(options?: NodegitBuildOptions): Promise<NodegitState>;
