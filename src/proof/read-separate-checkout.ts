import { ProvenCheckout } from './checkout.ts';
import type { SeparateClaim } from './checkout-claim.ts';
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
import { readGitFile } from './read-git-file.ts';
import { surveyGitDirectory } from './surroundings.ts';

/**
 * Our own round trip for a main checkout with a separate Git dir: the file `.git` names the held directory, which stands for itself
 * and is part of no other repository's administration. Nothing in the Git dir leads back to the checkout, so who pins its identity
 * decides whether it is the right one (`repository_identity_changed`).
 * @throws `repository_unsupported` | `identity_changed` | `busy` | `storage_failed`
 */
export async function readSeparateCheckout(claim: SeparateClaim, log: FactLog): Promise<ProvenCheckout> {
  const { root, path, gitDirectory, gitPath, top, owner } = claim;
  establishClearPath(path, log);
  establishClearPath(gitPath, log);
  const around = await surveyGitDirectory(top, gitPath, log);
  const held = await watchHeld(top, gitPath.slice(1), gitDirectoryNames, gitDirectory, owner, log);
  establishLayout(held, log);
  const names = [held, await watchRoot(root, owner), ...around];
  establishOwner('root', root, owner, log);
  establishOwner('git dir', gitDirectory, owner, log);
  const gitFile = await readGitFile(
    claim,
    (pointer) => pointer.kind === 'separate-git-dir' && pointer.gitDirectory === gitPath,
    log,
  );
  const head = await readHead(gitDirectory, owner, log);
  const { config, worktreeConfig, format } = await readConfiguration(gitDirectory, owner, log);
  await examineOtherFiles(gitDirectory, owner, log);
  const files = [new FileWatch(gitDirectory, 'config', config), new FileWatch(root, '.git', gitFile)];
  if (worktreeConfig !== null) files.push(new FileWatch(gitDirectory, 'config.worktree', worktreeConfig));
  return new ProvenCheckout({
    format,
    configurationStamp: stampOfConfiguration(config),
    names,
    files,
    head: { directory: gitDirectory, path: 'HEAD', file: head, owner },
  });
}
