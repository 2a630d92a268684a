import type { WorkspaceRegistry } from '../registry/workspace-registry.ts';
import { findRow, sameRow } from './registry-rows.ts';
import type { KeptWorkspace } from './workspace-cache.ts';

/**
 * Whether the row that a kept root stands on is still there: its own, or without one that of the main checkout that lends it (R32).
 * @throws `registry_unavailable`
 */
export async function isStillRegistered(
  registry: WorkspaceRegistry,
  { subject, workspace }: KeptWorkspace,
): Promise<boolean> {
  const row = await findRow(registry, subject.path);
  if (subject.row !== null) return row !== null && sameRow(row, subject.row);
  const delegate = workspace.repository?.delegate ?? null;
  return delegate === null || delegate.isRegistered();
}
