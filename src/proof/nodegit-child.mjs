/**
 * The process that holds nodegit, and the only file that loads it. libgit2 can be stopped for ever, or made to eat memory, by the
 * files of a repository; then this process is killed and nothing else is lost. Started by nodegit-process.ts:
 *
 *   node nodegit-child.mjs <directory of nodegit>
 *
 * Messages in: {id, descriptor, row: {main, name} or null}; out: {ready: true}, then for each one {id, seen} or
 * {id, refused: <libgit2 error number>}.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';

/** GIT_REPOSITORY_OPEN_NO_SEARCH: only the directory itself, never one above it. */
const noSearch = 1;

const { Repository, Worktree } = createRequire(import.meta.url)(process.argv[2]);

async function look(descriptor, row) {
  // Side by side, as each call waits for a thread of libgit2's pool. Both end before either failure is told.
  const [seen, found] = await Promise.allSettled([lookAt(descriptor), row === null ? null : lookUp(row)]);
  if (seen.status === 'rejected') throw seen.reason;
  if (found.status === 'rejected') throw found.reason;
  return { ...seen.value, row: found.value };
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

/**
 * Main checkouts that were asked about lately. A lookup takes nothing from an open repository but the path of its common dir, so none is
 * too old; whether that is the right one shows in what is seen of the worktree itself.
 */
const mains = new Map();
const mainsKept = 16;

async function withMain(path, use) {
  const main = mains.get(path) ?? openMain(path);
  // In the order of their last use.
  mains.delete(path);
  mains.set(path, main);
  main.users += 1;
  try {
    return await use(await main.opening);
  } finally {
    main.users -= 1;
    closeOldest();
  }
}

function openMain(path) {
  const opening = Repository.openExt(path, noSearch, '');
  opening.catch(() => mains.delete(path));
  return { opening, users: 0 };
}

/** One that is in use stays: libgit2 reads it on another thread. */
function closeOldest() {
  for (const [path, { opening, users }] of mains) {
    if (mains.size <= mainsKept) return;
    if (users > 0) continue;
    mains.delete(path);
    opening.then((repository) => repository.cleanup()).catch(() => {});
  }
}

/**
 * The row of a worktree by its name, in the list of the common dir. `Worktree.list` fails always in this version; `lookup` takes any path
 * for a name. libgit2 calls no row prunable that is valid (git_worktree_is_prunable without flags).
 */
function lookUp({ main, name }) {
  return withMain(main, async (repository) => {
    const worktree = await Worktree.lookup(repository, name);
    try {
      return { path: worktree.path(), valid: worktree.validate() === 0 };
    } finally {
      worktree.cleanup?.();
    }
  });
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

function isRow(row) {
  if (row === null) return true;
  const { main, name } = row;
  if (typeof main !== 'string' || !/^\/[^\0]+$/.test(main)) return false;
  return typeof name === 'string' && /^[^/\0]+$/.test(name) && name !== '.' && name !== '..';
}

process.on('disconnect', () => process.exit(0));
process.on('message', async (message) => {
  const { id, descriptor, row } = message;
  // A wrong type inside libgit2 kills the process, so nothing but what the host builds gets there.
  if (!isDescriptor(descriptor) || !isRow(row)) process.exit(1);
  let reply;
  try {
    reply = { id, seen: await look(descriptor, row) };
  } catch (error) {
    reply = { id, refused: Number.isInteger(error?.errno) ? error.errno : 0 };
  }
  process.send?.(reply, () => {});
});
process.send?.({ ready: true });
