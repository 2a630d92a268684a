/** A directory as libgit2 names it, with what stands under that name. */
export interface NodegitPlace {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

export interface NodegitSight {
  readonly bare: boolean;
  readonly linked: boolean;
  readonly workTree: NodegitPlace | null;
  readonly gitDirectory: NodegitPlace | null;
  readonly commonDirectory: NodegitPlace | null;
  /** The row of the worktree list that was asked for, as the main checkout has it; null when none was. */
  readonly row: NodegitRow | null;
}

export interface NodegitRow {
  readonly path: string;
  readonly valid: boolean;
  /** Whose list it is in; null where the main checkout has no common dir. */
  readonly commonDirectory: NodegitPlace | null;
}

export type NodegitReply =
  | { readonly kind: 'seen'; readonly id: number; readonly seen: NodegitSight }
  | { readonly kind: 'refused'; readonly id: number; readonly libgit2Error: number };

/** What a child said, by shape; null for anything that is not exactly one of its messages. */
export function parseNodegitReply(message: unknown): NodegitReply | { readonly kind: 'ready' } | null {
  if (!isRecord(message)) return null;
  if (message['ready'] === true) return { kind: 'ready' };
  const { id, seen, refused } = message;
  if (typeof id !== 'number') return null;
  if (typeof refused === 'number') return { kind: 'refused', id, libgit2Error: refused };
  const sight = parseSight(seen);
  return sight === null ? null : { kind: 'seen', id, seen: sight };
}

function parseSight(value: unknown): NodegitSight | null {
  if (!isRecord(value)) return null;
  const bare = parseFlag(value['bare']);
  const linked = parseFlag(value['worktree']);
  const workTree = parsePlace(value['workTree']);
  const gitDirectory = parsePlace(value['gitDirectory']);
  const commonDirectory = parsePlace(value['commonDirectory']);
  const row = parseRow(value['row']);
  if (bare === null || linked === null || row === undefined) return null;
  if (workTree === undefined || gitDirectory === undefined || commonDirectory === undefined) return null;
  return { bare, linked, workTree, gitDirectory, commonDirectory, row };
}

/** Null where no row was asked for, undefined where the value is none of both. */
function parseRow(value: unknown): NodegitRow | null | undefined {
  if (value === null) return null;
  if (!isRecord(value)) return undefined;
  const { path, valid } = value;
  const commonDirectory = parsePlace(value['commonDirectory']);
  if (typeof path !== 'string' || typeof valid !== 'boolean' || commonDirectory === undefined)
    return undefined;
  return { path, valid, commonDirectory };
}

/** nodegit answers yes and no with numbers. */
function parseFlag(value: unknown): boolean | null {
  return value === 0 || value === 1 ? value === 1 : null;
}

/** Null where libgit2 has no such directory, undefined where the value is none of both. */
function parsePlace(value: unknown): NodegitPlace | null | undefined {
  if (value === null) return null;
  if (!isRecord(value)) return undefined;
  const { path, device, inode } = value;
  if (typeof path !== 'string' || !isNumberText(device) || !isNumberText(inode)) return undefined;
  return { path, device: BigInt(device), inode: BigInt(inode) };
}

function isNumberText(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
