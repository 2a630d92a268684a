/**
 * The process that holds nodegit, and the only file that loads it. libgit2 can be stopped for ever, or made to eat memory, by the
 * files of a repository; then this process is killed and nothing else is lost. Started by nodegit-process.ts:
 *
 *   node nodegit-child.mjs <directory of nodegit>
 *
 * Messages in: {id, descriptor, row: {mainDescriptor, name} or null}; out: {ready: true}, then for each one {id, seen} or
 * {id, refused: <libgit2 error number>}.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';

/** GIT_REPOSITORY_OPEN_NO_SEARCH: only the directory itself, never one above it. */
const noSearch = 1;

const { Repository, Worktree } = createRequire(import.meta.url)(process.argv[2]);

async function look(descriptor, row) {
  // Side by side: each call waits for a thread of libgit2's pool. Both end before either failure is told.
  const [place, found] = await Promise.allSettled([lookAt(descriptor), row === null ? null : lookUp(row)]);
  if (place.status === 'rejected') throw place.reason;
  if (found.status === 'rejected') throw found.reason;
  return { ...place.value, row: found.value };
}

async function lookAt(descriptor) {
  const repository = await Repository.openExt(descriptor, noSearch, '');
  try {
    return {
      bare: repository.isBare(),
      worktree: repository.isWorktree(),
      workTree: place(repository.workdir()),
      gitDirectory: place(repository.path()),
      commonDirectory: place(repository.commondir()),
    };
  } finally {
    repository.cleanup();
  }
}

/** The row of a worktree by its name. `Worktree.list` fails always in this version; `lookup` takes any path for a name. */
async function lookUp({ mainDescriptor, name }) {
  const main = await Repository.openExt(mainDescriptor, noSearch, '');
  try {
    const worktree = await Worktree.lookup(main, name);
    try {
      const prunable = await worktree.isPrunable();
      return { path: worktree.path(), valid: worktree.validate() === 0, prunable: prunable !== 0 };
    } finally {
      worktree.cleanup?.();
    }
  } finally {
    main.cleanup();
  }
}

/** The directory as libgit2 names it, and what stands there now. */
function place(path) {
  if (typeof path !== 'string') return null;
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, device: String(dev), inode: String(ino) };
}

function isDescriptor(value) {
  return typeof value === 'string' && /^\/proc\/\d+\/fd\/\d+$/.test(value);
}

function isRowQuestion(row) {
  if (row === null) return true;
  if (typeof row !== 'object' || typeof row.name !== 'string' || !isDescriptor(row.mainDescriptor))
    return false;
  return /^[^/\0]+$/.test(row.name) && row.name !== '.' && row.name !== '..';
}

process.on('disconnect', () => process.exit(0));
process.on('message', async (message) => {
  const { id, descriptor, row } = message;
  // A wrong type inside libgit2 kills the process, so nothing but what the host builds gets there.
  if (!isDescriptor(descriptor) || !isRowQuestion(row)) process.exit(1);
  let reply;
  try {
    reply = { id, seen: await look(descriptor, row) };
  } catch (error) {
    reply = { id, refused: Number.isInteger(error?.errno) ? error.errno : 0 };
  }
  process.send?.(reply, () => {});
});
process.send?.({ ready: true });
