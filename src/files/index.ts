export { createWorkspaceFiles } from './create-workspace-files.ts';
export type * from './workspace-files.ts';
