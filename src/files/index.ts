export { createWorkspaceFiles, type WorkspaceFilesOptions } from './create-workspace-files.ts';
export type * from './workspace-files.ts';
