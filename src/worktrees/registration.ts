import { isAuthorityError } from '../errors/index.ts';
import type { CreateContext } from './create-context.ts';

const longestTitle = 200;

/**
 * The id of the row of a worktree, which is made when there is none; null where the host makes rows itself and has made none. The path was
 * free of rows when the worktree was made, so a row that is there is one for it.
 */
export async function ensureRegistered(
  { registry, registrar }: CreateContext,
  path: string,
  title: string,
): Promise<string | null> {
  const row = await registry.find(path);
  if (row !== null || registrar === null) return row?.id ?? null;
  try {
    return await registrar.register(path, title.slice(0, longestTitle).toWellFormed());
  } catch (error) {
    if (!isAuthorityError(error) || error.code !== 'workspace_already_registered') throw error;
    return (await registry.find(path))?.id ?? null;
  }
}
