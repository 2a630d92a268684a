/**
 * The process that holds nodegit, and the only file that loads it. libgit2 can be stopped for ever, or made to eat memory, by the
 * files of a repository; then this process is killed and nothing else is lost. Started by nodegit-process.ts:
 *
 *   node nodegit-child.mjs <directory of nodegit>
 *
 * Messages in: {id, descriptor}; out: {ready: true}, then for each one {id, seen} or {id, refused: <libgit2 error number>}.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';

/** GIT_REPOSITORY_OPEN_NO_SEARCH: only the directory itself, never one above it. */
const noSearch = 1;

const { Repository } = createRequire(import.meta.url)(process.argv[2]);

async function look(descriptor) {
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

/** The directory as libgit2 names it, and what stands there now. */
function place(path) {
  if (typeof path !== 'string') return null;
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, device: String(dev), inode: String(ino) };
}

process.on('disconnect', () => process.exit(0));
process.on('message', async (message) => {
  const { id, descriptor } = message;
  // A wrong type inside libgit2 kills the process, so nothing but what the host builds gets there.
  if (typeof descriptor !== 'string' || !/^\/proc\/\d+\/fd\/\d+$/.test(descriptor)) process.exit(1);
  let reply;
  try {
    reply = { id, seen: await look(descriptor) };
  } catch (error) {
    reply = { id, refused: Number.isInteger(error?.errno) ? error.errno : 0 };
  }
  process.send?.(reply, () => {});
});
process.send?.({ ready: true });
