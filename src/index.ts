/** The library: a service over registered directories, the ports a host may fill, the errors, and the parsers of values. */
export type { Authority, CheckedFact, Explanation } from './authority/authority.ts';
export { type BeneathPath, parseBeneathPath } from './capability/beneath-path.ts';
export type { CapabilityKind, FileCapability, GitBoundary } from './capability/file-capability.ts';
export type { StoredIdentity } from './capability/identity.ts';
export type {
  ManagedFacts,
  ManagedWorktreeCapability,
  WorktreeIntent,
} from './capability/managed-worktree-capability.ts';
export type { RepositoryCapability } from './capability/repository-capability.ts';
export { defaultStateDirectory } from './capability/state-location.ts';
export {
  AuthorityError,
  type AuthorityErrorOptions,
  type CodeRow,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  errorCodes,
  isAuthorityError,
} from './errors/index.ts';
export type * from './files/workspace-files.ts';
export type * from './forge/forge.ts';
export type { ForgeHost, ForgeHosts } from './forge/forge-hosts.ts';
export { createGitHubForge } from './forge/github-forge.ts';
export type { WorkspaceRegistry, WorkspaceRow } from './registry/workspace-registry.ts';
export type { Logger } from './service/logger.ts';
export {
  openStandaloneState,
  type StandaloneState,
  type StandaloneStateOptions,
} from './service/standalone-state.ts';
export { version } from './service/version.ts';
export * from './service.ts';
