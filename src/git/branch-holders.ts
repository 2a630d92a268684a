import { type DirectoryHandle, fileFacts } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { readSymbolicFile } from './symbolic-file.ts';
import type { RefName } from './values.ts';

/** A checkout that a branch may not be moved behind. */
export interface BranchHolder {
  readonly checkout:
    | { readonly kind: 'main' }
    /** Path of its root as its administration says it, to be authorised; null when that is no text. */
    | { readonly kind: 'linked'; readonly path: string | null };
  /** Null: HEAD leads to the branch. Else HEAD is detached for the time of this, and the branch moves, or is returned to, in the end. */
  readonly operation: 'rebase' | 'bisect' | null;
}

/** Files by which Git remembers a branch for the time of an operation; see wt-status.c and branch.c of Git. */
const memories = [
  ['rebase-merge/head-name', 'rebase'],
  ['rebase-apply/head-name', 'rebase'],
  ['rebase-merge/update-refs', 'rebase'],
  ['BISECT_START', 'bisect'],
] as const;

/** More worktrees are nobody's. */
const listedAtMost = 10_000;
const pathLimitBytes = 4200;
/** `update-refs` names each branch of a stack. */
const memoryLimitBytes = 1024 * 1024;

/**
 * All checkouts that have a branch checked out, prunable ones and those on disks that are not there included: read from the administration
 * beneath the held common directory, by what Git itself goes by. It proves nothing about a checkout but that it must be asked.
 * @throws `git_failed` (details.reason `worktree-administration`: one cannot be read, and so might have it) | `storage_failed` | ...
 */
export async function findBranchHolders(
  { repository }: RepositoryCapability,
  branch: RefName,
): Promise<readonly BranchHolder[]> {
  const common = repository.commonDirectory;
  const holders: BranchHolder[] = [];
  const operation = await holdingOperation(common, '', branch);
  if (operation !== undefined) holders.push({ checkout: { kind: 'main' }, operation });
  for (const name of await administrativeNames(common)) {
    const prefix = `worktrees/${name}/`;
    const held = await holdingOperation(common, prefix, branch);
    if (held === undefined) continue;
    const path = await rootPath(common, prefix);
    holders.push({ checkout: { kind: 'linked', path }, operation: held });
  }
  return holders;
}

/** Undefined when the checkout has nothing to do with the branch. */
async function holdingOperation(
  common: DirectoryHandle,
  prefix: string,
  branch: RefName,
): Promise<BranchHolder['operation'] | undefined> {
  const head = await readSymbolicFile(common, path(`${prefix}HEAD`));
  if (head === null && (await readOrNull(common, `${prefix}HEAD`, pathLimitBytes)) !== null)
    throw unreadable();
  const latin1Branch = Buffer.from(branch).toString('latin1');
  if (head?.kind === 'symbolic' && head.ref === latin1Branch) return null;
  const names = new Set([latin1Branch, latin1Branch.slice('refs/heads/'.length)]);
  for (const [file, operation] of memories) {
    const content = await readOrNull(common, prefix + file, memoryLimitBytes);
    if (content?.split('\n').some((line) => names.has(line))) return operation;
  }
  return undefined;
}

async function administrativeNames(common: DirectoryHandle): Promise<readonly string[]> {
  try {
    const { names, more } = await common.list('worktrees', { rootPath: '/', limit: listedAtMost }, null);
    if (more) throw unreadable();
    return Buffer.from(names).toString('latin1').split('\0').slice(0, -1);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw refusalOf(error);
  }
}

async function rootPath(common: DirectoryHandle, prefix: string): Promise<string | null> {
  const content = (await readOrNull(common, `${prefix}gitdir`, pathLimitBytes)) ?? '';
  const bytes = Buffer.from(content.replace(/\n$/, ''), 'latin1');
  const text = bytes.toString('utf8');
  const isPath = text.startsWith('/') && text.endsWith('/.git') && Buffer.from(text).equals(bytes);
  return isPath ? text.slice(0, -'/.git'.length) : null;
}

/** Latin-1; null when there is no such file. */
async function readOrNull(common: DirectoryHandle, name: string, limit: number): Promise<string | null> {
  try {
    const bytes = await common.read(path(name), limit, new BigInt64Array(fileFacts.count), null);
    return Buffer.from(bytes).toString('latin1');
  } catch (error) {
    const code = codeOf(error) ?? '';
    // A file among the administrative directories is none.
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'EFBIG' || code === 'ELOOP' || code === 'WA_NOT_REGULAR') throw unreadable();
    throw refusalOf(error);
  }
}

function path(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

function unreadable(): AuthorityError {
  return new AuthorityError('git_failed', {
    details: { command: 'worktree-list', reason: 'worktree-administration' },
  });
}
