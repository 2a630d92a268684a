import { randomUUID } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path/posix';
import { fileFacts } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import type { HeldRepository, RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { type HookName, hookCommand } from '../git/hook-command.ts';
import { type HooksDirectory, hooksDirectoryOf } from '../git/hook-settings.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { UserIdentity } from '../git/user-configuration.ts';
import { type CommitMessage, parseCommitMessage } from '../git/values.ts';
import { tidyMessage } from './tidy-message.ts';

/** The hooks of one repository while an action runs in it; of a repository that is not trusted there are none. */
export interface TrustedHooks extends Disposable {
  /** Holds the directory of the hooks; null: no hook runs. */
  readonly directory: HooksDirectory | null;
  /** Runs a hook, if it is there, to its end. @throws `hook_refused` (details.hook, details.exitCode) | as `GitRunner.run` */
  run(name: HookName, identity: UserIdentity, words?: readonly string[]): Promise<void>;
  /**
   * What the message is after the hooks that may change it, `prepare-commit-msg` and `commit-msg`, in Git's own file for it.
   * @throws `hook_refused` (details.reason `message`: they left none that Git can carry) | as `run`
   */
  message(
    message: CommitMessage,
    source: 'message' | 'merge',
    identity: UserIdentity,
  ): Promise<CommitMessage>;
}

type DirectoryHandle = HeldRepository['commonDirectory'];

export type OpenHooks = (capability: RepositoryCapability) => Promise<TrustedHooks>;

/**
 * Hooks run only in repositories whose main checkout the operator has named, since the proof of a capability says which one that is, and
 * only those of `hooks` in the held common directory: `core.hooksPath` of a repository, which a commit could bring along, counts nowhere.
 * @param mainRoots canonical paths of main checkouts
 * @throws TypeError for a path that is not canonical in form
 */
export function createHookTrust(git: GitRunner, mainRoots: readonly string[] = []): OpenHooks {
  for (const path of mainRoots) {
    if (!isAbsolute(path) || path.includes('\0') || normalize(path) !== path || /.\/$/.test(path))
      throw new TypeError('a repository is trusted by the canonical path of its main checkout');
  }
  const trusted = new Set(mainRoots);
  return async (capability) => {
    if (!trusted.has(capability.repository.mainRoot)) return noHooks;
    const directory = await openHooksDirectory(capability);
    return directory === null ? noHooks : new HeldHooks(git, capability, directory);
  };
}

const noHooks: TrustedHooks = {
  directory: null,
  run: async () => {},
  message: async (message) => message,
  [Symbol.dispose]() {},
};

/** Git's own name for it, where hooks look as well. */
const messageFile = 'COMMIT_EDITMSG';
const messageLimitBytes = 1024 * 1024;

class HeldHooks implements TrustedHooks {
  readonly directory: HooksDirectory;
  readonly #git: GitRunner;
  readonly #capability: RepositoryCapability;
  readonly #handle: DirectoryHandle;

  constructor(git: GitRunner, capability: RepositoryCapability, handle: DirectoryHandle) {
    this.#git = git;
    this.#capability = capability;
    this.#handle = handle;
    this.directory = hooksDirectoryOf(handle);
  }

  async run(name: HookName, identity: UserIdentity, words: readonly string[] = []): Promise<void> {
    const command = hookCommand(pinnedPlace(this.#capability), this.directory, { name, words, identity });
    const { exitCode, stderr } = await this.#git.run(command);
    if (exitCode === 0) return;
    throw new AuthorityError('hook_refused', {
      details: { hook: name, exitCode },
      cause: stderr.toString('utf8'),
    });
  }

  async message(
    message: CommitMessage,
    source: 'message' | 'merge',
    identity: UserIdentity,
  ): Promise<CommitMessage> {
    const { gitDirectory } = this.#capability.repository;
    await writeMessage(gitDirectory, message);
    const path = `${gitDirectory.descriptorPath()}/${messageFile}`;
    await this.run('prepare-commit-msg', identity, [path, source]);
    await this.run('commit-msg', identity, [path]);
    const parsed = parseCommitMessage(await readMessage(gitDirectory));
    if (parsed !== null) return tidyMessage(parsed);
    throw new AuthorityError('hook_refused', { details: { hook: 'commit-msg', reason: 'message' } });
  }

  [Symbol.dispose](): void {
    this.#handle.close();
  }
}

async function openHooksDirectory({ repository }: RepositoryCapability): Promise<DirectoryHandle | null> {
  try {
    return await repository.commonDirectory.openDirectory('hooks');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new AuthorityError('hook_refused', { details: { reason: 'hooks-directory' }, cause: error });
  }
}

/** Takes the place of what an earlier commit left, as Git does. */
async function writeMessage(gitDirectory: DirectoryHandle, message: CommitMessage): Promise<void> {
  try {
    const { inode, device } = await gitDirectory.stat(messageFile, null);
    await gitDirectory.unlinkIfSame(messageFile, inode, device);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw messageUnusable(error);
  }
  const temporaryName = `${messageFile}.${randomUUID()}`;
  const change = { bytes: Buffer.from(message, 'utf8'), mode: 0o644, temporaryName };
  const { outcome } = await gitDirectory.create(messageFile, change, null).catch((error: unknown) => {
    throw messageUnusable(error);
  });
  if (outcome === 'exists') throw messageUnusable(undefined);
}

async function readMessage(gitDirectory: DirectoryHandle): Promise<string> {
  try {
    const facts = new BigInt64Array(fileFacts.count);
    const bytes = await gitDirectory.read(messageFile, messageLimitBytes, facts, null);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw messageUnusable(error);
  }
}

function messageUnusable(cause: unknown): AuthorityError {
  return new AuthorityError('hook_refused', { details: { reason: 'message-file' }, cause });
}
