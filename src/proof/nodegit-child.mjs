/**
 * The process that holds nodegit, and the only file that loads it. libgit2 can be stopped for ever, or made to eat memory, by the
 * files of a repository; then this process is killed and nothing else is lost. Started by nodegit-process.ts:
 *
 *   node nodegit-child.mjs <directory of nodegit>
 *
 * Messages in: {id, descriptor, row: {main, name, path, commonDirectory} or null}; out: {ready: true}, then for each one {id, seen} or
 * {id, refused: <libgit2 error number>}.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path/posix';

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
 * Main checkouts that were asked about lately. What an open repository says of itself is as old as its opening and was found by path, so a
 * kept one may speak only for what is expected of it; where it does not, one that is opened for this question alone has the last word.
 */
const mains = new Map();
const mainsKept = 16;

/**
 * The row of a worktree by its name, in the list of the common dir. `Worktree.list` fails always in this version; `lookup` takes any path
 * for a name. libgit2 calls no row prunable that is valid (git_worktree_is_prunable without flags).
 */
async function lookUp(row) {
  const kept = mains.get(row.main);
  if (kept !== undefined) {
    const found = await lookIn(kept, row).catch(() => null);
    if (found !== null && isExpected(found, row)) return found;
    forget(kept);
  }
  const fresh = openMain(row.main);
  try {
    const found = await lookIn(fresh, row);
    if (!isExpected(found, row)) forget(fresh);
    return found;
  } catch (error) {
    forget(fresh);
    throw error;
  }
}

async function lookIn(main, { name }) {
  main.users += 1;
  try {
    const repository = await main.opening;
    const worktree = await Worktree.lookup(repository, name);
    try {
      const commonDirectory = place(repository.commondir());
      return { path: worktree.path(), valid: worktree.validate() === 0, commonDirectory };
    } finally {
      worktree.cleanup?.();
    }
  } finally {
    main.users -= 1;
    touch(main);
    closeUnused(main);
  }
}

/** Whether this is the row of a live worktree at the path, in the list of exactly this common dir. */
function isExpected({ path, valid, commonDirectory: seen }, { name, path: root, commonDirectory: expected }) {
  const same =
    seen?.path === `${expected.path}/` && seen.device === expected.device && seen.inode === expected.inode;
  // A link that was written relative starts at the administrative directory (gitrepository-layout(5), gitdir).
  return same && valid && resolve(expected.path, 'worktrees', name, path) === root;
}

/** Takes the place of one that is kept. */
function openMain(path) {
  const replaced = mains.get(path);
  const main = { path, opening: Repository.openExt(path, noSearch, ''), users: 0, closed: false };
  mains.set(path, main);
  if (replaced !== undefined) closeUnused(replaced);
  return main;
}

function forget(main) {
  if (mains.get(main.path) === main) mains.delete(main.path);
  closeUnused(main);
}

/** Keeps the order of the last use, and no more than so many. */
function touch(main) {
  if (mains.get(main.path) !== main) return;
  mains.delete(main.path);
  mains.set(main.path, main);
  for (const oldest of mains.values()) {
    if (mains.size <= mainsKept) return;
    if (oldest.users === 0) forget(oldest);
  }
}

/** Closes what is kept no more. One that is in use stays until it is not: libgit2 reads it on another thread. */
function closeUnused(main) {
  if (main.closed || main.users > 0 || mains.get(main.path) === main) return;
  main.closed = true;
  main.opening.then((repository) => repository.cleanup()).catch(() => {});
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

function isPath(value) {
  return typeof value === 'string' && /^\/[^\0]+$/.test(value);
}

function isRow(row) {
  if (row === null) return true;
  const { main, name, path, commonDirectory } = row;
  if (!isPath(main) || !isPath(path) || !isPath(commonDirectory?.path)) return false;
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
