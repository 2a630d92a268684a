import type { DirectoryHandle } from '../capability/handles.ts';
import { AuthorityError } from '../errors/index.ts';
import { headLimitBytes, parseHead } from '../git/head.ts';
import { type AdminFile, examineAdminFile, readAdminFile } from './admin-file.ts';
import { establish, type FactLog } from './facts.ts';
import { FileWatch } from './file-watch.ts';
import { MainCheckout } from './main-checkout.ts';
import { NameWatch } from './name-watch.ts';
import type { ProverQuestion, RepositoryProver } from './prover.ts';
import { judgeConfiguration, type RepositoryFormat } from './repository-format.ts';
import { changeOrFailure, translateStorageFailure } from './storage-failure.ts';
import { unsupported } from './unsupported.ts';

export interface MainCheckoutClaim {
  /** The held root; stays open as long as the proof is used. */
  readonly root: DirectoryHandle;
  /** Canonical path of the root. */
  readonly path: string;
  /** `.git` of the root, as opened by `openGitDirectory`. Stays with the caller. */
  readonly gitDirectory: DirectoryHandle;
  /** Who must own everything that is trusted: the effective user of this process. SUDO_UID and safe.directory do not count. */
  readonly owner: number;
}

/** A checkout that other programs work in may change under the proof; so often in a row is no accident. */
const attempts = 3;

/** A configuration with some thousand branches; nothing larger is real. */
const configLimitBytes = 1024 * 1024;

/** Other files that Git or libgit2 read when they open a repository, with the size up to which they are believed. */
const examined: readonly (readonly [name: string, limitBytes: number])[] = [
  ['shallow', 16 * 1024 * 1024],
  ['packed-refs', 512 * 1024 * 1024],
  ['info/attributes', 1024 * 1024],
  ['info/exclude', 1024 * 1024],
  ['info/grafts', 1024 * 1024],
  ['info/sparse-checkout', 4 * 1024 * 1024],
  ['objects/info/alternates', 1024 * 1024],
];

/**
 * Proves that the held root is exactly the main checkout of a repository whose Git directory is the held `.git`. Our own round trip
 * reads every fact through the handles; then the prover gives its opinion; then every fact is looked at once more, so that a swap
 * in between is seen (R06).
 *
 * Not promised: that the prover's reads, which go by path, saw the held directory each time. Its opinion is only ever a second one.
 * @throws `repository_unsupported` | `prover_unavailable` | `identity_changed` (root or Git dir moved) | `busy` | `storage_failed` | `aborted`
 */
export async function proveMainCheckout(
  claim: MainCheckoutClaim,
  prover: RepositoryProver,
  log: FactLog,
  signal?: AbortSignal,
): Promise<MainCheckout> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const checkout = await readMainCheckout(claim, log);
    const opinion = await prover.prove(questionOf(claim, checkout), signal);
    await assertInPlace(claim, log);
    // A repository that changed meanwhile makes the opinion worthless, whatever it was.
    if (!(await checkout.isUnchangedWaiting())) continue;
    establish(
      log,
      {
        fact: 'second opinion',
        expected: 'the same main checkout',
        seen: opinion.agrees ? 'the same main checkout' : opinion.seen,
      },
      opinion.agrees,
      () => unsupported('prover-disagrees'),
    );
    return checkout;
  }
  throw new AuthorityError('busy', { details: { what: 'repository' } });
}

async function readMainCheckout(claim: MainCheckoutClaim, log: FactLog): Promise<MainCheckout> {
  const { root, gitDirectory, owner } = claim;
  establishPath(claim.path, log);
  const directories = [await watchGitEntry(claim, log), await watchOwner(root, owner)];
  // After the watches began, so that whatever comes later shows.
  establishOwner('root', root, owner, log);
  establishOwner('git dir', gitDirectory, owner, log);
  const head = await readRequired(claim, 'HEAD', headLimitBytes, log);
  establish(
    log,
    { fact: 'HEAD', expected: 'a full ref or object name', seen: parseHead(head.bytes)?.kind ?? 'malformed' },
    parseHead(head.bytes) !== null,
    () => unsupported('head-malformed'),
  );
  const config = await readRequired(claim, 'config', configLimitBytes, log);
  const worktreeConfig = await readAdminFile(gitDirectory, 'config.worktree', configLimitBytes, owner);
  const format = establishFormat(config, worktreeConfig, log);
  await Promise.all(examined.map(([name, limit]) => examineAdminFile(gitDirectory, name, limit, owner)));
  log?.push({ fact: 'other files Git reads', expected: 'regular, own, small', seen: 'so', holds: true });
  const configuration = [new FileWatch(root, '.git/config', config)];
  if (worktreeConfig !== null)
    configuration.push(new FileWatch(root, '.git/config.worktree', worktreeConfig));
  return new MainCheckout({ root, gitDirectory, owner, format, directories, configuration, config, head });
}

/** Bytes that would make a prover's printed answer ambiguous. U+FFFD is also what an undecodable byte becomes on the way through it. */
function establishPath(path: string, log: FactLog): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  const ambiguous = /[\x00-\x1f\x7f\ufffd]| $/.test(path);
  establish(
    log,
    { fact: 'path', expected: 'printable, no trailing space', seen: ambiguous ? 'ambiguous' : 'printable' },
    !ambiguous,
    () => unsupported('path-not-supported'),
  );
}

function establishOwner(what: string, directory: DirectoryHandle, owner: number, log: FactLog): void {
  const { uid } = directory.identity();
  establish(
    log,
    { fact: `owner of ${what}`, expected: String(owner), seen: String(uid) },
    uid === owner,
    () => unsupported('foreign-owner', { what }),
  );
}

const gitDirectoryNames = ['objects', 'refs', 'commondir', 'config.worktree'];
const typeBits = 0o170000n;
const directoryType = 0o040000n;

/** The name `.git` must lead to the held Git directory, with directories for objects and refs and no `commondir` that leads on. */
async function watchGitEntry(claim: MainCheckoutClaim, log: FactLog): Promise<NameWatch> {
  const { root, gitDirectory, owner } = claim;
  const held = gitDirectory.identity();
  const entry = await beginWatch(
    root,
    '.git',
    gitDirectoryNames,
    () => gitDirectory.identity().uid === owner,
  );
  const { device, inode } = entry.directory;
  const same = device === held.device && inode === held.inode;
  establish(
    log,
    { fact: 'git dir', expected: 'the held directory', seen: same ? 'the held directory' : 'another' },
    same,
    () => new AuthorityError('identity_changed', { details: { what: 'git dir' } }),
  );
  const complete = ['objects', 'refs'].every((name) => {
    const found = entry.find(name);
    return found !== null && (found.mode & typeBits) === directoryType;
  });
  const plain = complete && entry.find('commondir') === null;
  establish(
    log,
    { fact: 'layout', expected: 'objects and refs, no commondir', seen: plain ? 'so' : 'otherwise' },
    plain,
    () => unsupported('git-directory-incomplete'),
  );
  return entry;
}

/** A change of the root directory that keeps its names may be one of its owner. */
function watchOwner(root: DirectoryHandle, owner: number): Promise<NameWatch> {
  return beginWatch(root, '.', [], () => root.identity().uid === owner);
}

async function beginWatch(...look: Parameters<typeof NameWatch.begin>): Promise<NameWatch> {
  return NameWatch.begin(...look).catch((error: unknown) => {
    throw changeOrFailure(error, 'git dir');
  });
}

async function readRequired(
  claim: MainCheckoutClaim,
  name: 'HEAD' | 'config',
  limit: number,
  log: FactLog,
): Promise<AdminFile> {
  const file = await readAdminFile(claim.gitDirectory, name, limit, claim.owner);
  if (file !== null) return file;
  log?.push({ fact: name, expected: 'a file', seen: 'none', holds: false });
  throw unsupported(name === 'HEAD' ? 'head-malformed' : 'config-missing');
}

function establishFormat(
  config: AdminFile,
  worktreeConfig: AdminFile | null,
  log: FactLog,
): RepositoryFormat {
  const expected = 'no include, no other work tree, known extensions';
  try {
    const format = judgeConfiguration(config.bytes, worktreeConfig?.bytes ?? null);
    log?.push({ fact: 'configuration', expected, seen: format.objectFormat, holds: true });
    return format;
  } catch (error) {
    const seen = error instanceof AuthorityError ? String(error.details['reason']) : 'unreadable';
    log?.push({ fact: 'configuration', expected, seen, holds: false });
    throw error;
  }
}

async function assertInPlace(claim: MainCheckoutClaim, log: FactLog): Promise<void> {
  let here: boolean;
  try {
    here = claim.root.leadsHereCached(claim.path) ?? (await claim.root.leadsHere(claim.path));
  } catch (error) {
    throw translateStorageFailure(error);
  }
  establish(
    log,
    { fact: 'root after the opinion', expected: 'in place', seen: here ? 'in place' : 'moved' },
    here,
    () => new AuthorityError('identity_changed', { details: { what: 'root' } }),
  );
}

function questionOf(claim: MainCheckoutClaim, checkout: MainCheckout): ProverQuestion {
  const root = claim.root.identity();
  const gitDirectory = claim.gitDirectory.identity();
  return {
    path: claim.path,
    rootDescriptor: claim.root.descriptorPath(),
    root: { device: root.device, inode: root.inode },
    gitDirectory: { device: gitDirectory.device, inode: gitDirectory.inode },
    format: checkout.format,
    configurationStamp: checkout.configurationStamp,
  };
}
