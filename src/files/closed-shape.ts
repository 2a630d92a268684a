import type { HeldRoot } from '../capability/held-root.ts';
import { joinPath, nameOf, parentOf, rootPath } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';

/**
 * Refuses a new name that would complete the shape of a closed directory: a workspace file must not become a Git directory piece by
 * piece, whose configuration Git would then obey (R12). The root itself has no shape.
 * @throws `administrative_path`
 */
export async function assertShapeStaysOpen(held: HeldRoot, path: string): Promise<void> {
  const { closedShape } = held.confinement;
  const parent = parentOf(path);
  const name = nameOf(path);
  if (parent === rootPath || !closedShape.includes(name)) return;
  for (const other of closedShape) {
    if (other === name) continue;
    if (!(await exists(held, joinPath(parent, other)))) return;
  }
  throw new AuthorityError('administrative_path');
}

async function exists(held: HeldRoot, path: ReturnType<typeof joinPath>): Promise<boolean> {
  try {
    await held.directory.stat(path, held.guard);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
