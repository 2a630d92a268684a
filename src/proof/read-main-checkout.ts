import { ProvenCheckout } from './checkout.ts';
import type { MainClaim } from './checkout-claim.ts';
import type { FactLog } from './facts.ts';
import { FileWatch } from './file-watch.ts';
import {
  establishClearPath,
  establishLayout,
  establishOwner,
  examineOtherFiles,
  gitDirectoryNames,
  readConfiguration,
  readHead,
  stampOfConfiguration,
  watchHeld,
  watchRoot,
} from './read-git-directory.ts';

/**
 * Our own round trip for a main checkout: the name `.git` leads to the held Git dir, which is complete, ours and harmless to read.
 * @throws `repository_unsupported` | `identity_changed` | `busy` | `storage_failed`
 */
export async function readMainCheckout(claim: MainClaim, log: FactLog): Promise<ProvenCheckout> {
  const { root, gitDirectory, owner } = claim;
  establishClearPath(claim.path, log);
  const entry = await watchHeld(root, '.git', gitDirectoryNames, gitDirectory, owner, log);
  establishLayout(entry, log);
  const names = [entry, await watchRoot(root, owner)];
  // After the watches began, so that whatever comes later shows.
  establishOwner('root', root, owner, log);
  establishOwner('git dir', gitDirectory, owner, log);
  const head = await readHead(gitDirectory, owner, log);
  const { config, worktreeConfig, format } = await readConfiguration(gitDirectory, owner, log);
  await examineOtherFiles(gitDirectory, owner, log);
  const files = [new FileWatch(root, '.git/config', config)];
  if (worktreeConfig !== null) files.push(new FileWatch(root, '.git/config.worktree', worktreeConfig));
  return new ProvenCheckout({
    format,
    configurationStamp: stampOfConfiguration(config),
    names,
    files,
    head: { directory: root, path: '.git/HEAD', file: head, owner },
  });
}
