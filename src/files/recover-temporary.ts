import type { NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { displayPath, joinPath } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { keptName } from '../capability/transaction-name.ts';
import { isAuthorityError } from '../errors/index.ts';
import { findTarget, type Leftover, ownerOf } from './leftover.ts';
import { type ExaminedFile, examine, isUnchanged, nothingThere } from './leftover-content.ts';
import { decideLeftover, keptForeign, type LeftoverDecision } from './leftover-decision.ts';
import { fileKey } from './operation.ts';
import type {
  RecoverableRoot,
  RecoverDirectoryOptions,
  RecoveryContext,
  RecoveryResult,
} from './recovery.ts';

/** Each round is lost only to somebody who changes the very files at that moment. */
const rounds = 8;
/** As many names as the addon tries. */
const keptNames = 64;
const unsettledReason = 'It could not be finished or undone now; it stays under its temporary name.';

/** Finishes or undoes one transaction. Null when nothing is left of it. @throws what `FileCapability.assertCurrent` throws | `aborted` */
export async function recoverTemporary(
  context: RecoveryContext,
  capability: RecoverableRoot,
  leftover: Leftover,
  options: RecoverDirectoryOptions,
): Promise<RecoveryResult | null> {
  const { held } = capability;
  const path = joinPath(leftover.directory, leftover.temporaryName);
  const ownedBecause = await ownerOf(context, held, leftover, path);
  if (ownedBecause !== null) {
    return { file: { path: displayPath(path), action: 'owner-alive', reason: ownedBecause }, settled: true };
  }
  const target = await findTarget(held, leftover);
  const place: Place = { held, leftover, path, target };
  if (options.dryRun) return preview(place);
  const { signal, waitMs } = options;
  const key = fileKey(held, displayPath(target ?? path));
  const change = async () => {
    await capability.assertCurrent(signal);
    return settle(place);
  };
  try {
    return await context.gate.run([key], change, {
      ...(signal === undefined ? {} : { signal }),
      ...(waitMs === undefined ? {} : { waitMs }),
    });
  } catch (error) {
    const busy =
      isAuthorityError(error) && (error.code === 'deadline_exceeded' || error.code === 'queue_full');
    if (busy) return unsettled(place);
    throw error;
  }
}

interface Place {
  readonly held: HeldRoot;
  readonly leftover: Leftover;
  readonly path: NativePath;
  /** Null where the target's name is not known or may not be given to a file. */
  readonly target: NativePath | null;
}

async function preview(place: Place): Promise<RecoveryResult | null> {
  const { decision } = await decide(place);
  return decision === null ? null : result(place.path, decision);
}

async function settle(place: Place): Promise<RecoveryResult | null> {
  const { held, path, target } = place;
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { decision, temporary, standing } = await decide(place);
      if (decision === null) return null;
      if (!(await isUnchanged(held, path, temporary))) continue;
      if (target !== null && !(await isUnchanged(held, target, standing))) continue;
      const ended = await carryOut(place, decision, temporary);
      if (ended !== null) return result(ended, decision);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
  }
  return unsettled(place);
}

interface Decided {
  /** Null when the leftover is gone. */
  readonly decision: LeftoverDecision | null;
  readonly temporary: ExaminedFile;
  readonly standing: ExaminedFile;
}

async function decide({ held, leftover, path, target }: Place): Promise<Decided> {
  const temporary = await examine(held, path);
  const standing = target === null ? nothingThere : await examine(held, target);
  if (temporary.type === 'missing') return { decision: null, temporary, standing };
  const decision = decideLeftover(leftover.transaction, temporary, standing);
  const impossible = decision.action === 'restored' && target === null;
  return { decision: impossible ? keptForeign : decision, temporary, standing };
}

/** The path that the content ended under, or null when somebody was faster and all must be looked at again. */
async function carryOut(
  { held, leftover, path, target }: Place,
  { action }: LeftoverDecision,
  { inode, device }: ExaminedFile,
): Promise<NativePath | null> {
  if (action === 'removed') return (await held.directory.unlinkIfSame(path, inode, device)) ? path : null;
  if (action === 'restored') return moveTo(held, path, target as NativePath);
  for (let attempt = 0; attempt < keptNames; attempt += 1) {
    const kept = joinPath(leftover.directory, keptName(leftover.temporaryName, attempt));
    const ended = await moveTo(held, path, kept);
    if (ended !== null) return ended;
  }
  return null;
}

async function moveTo(held: HeldRoot, from: NativePath, to: NativePath): Promise<NativePath | null> {
  try {
    await held.directory.renameNoReplace(from, to, held.guard);
    return to;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
}

function result(path: NativePath, { action, reason }: LeftoverDecision): RecoveryResult {
  return { file: { path: displayPath(path), action, reason }, settled: true };
}

function unsettled({ path }: Place): RecoveryResult {
  return { file: { path: displayPath(path), action: 'kept', reason: unsettledReason }, settled: false };
}
