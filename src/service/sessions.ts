import { randomUUID } from 'node:crypto';
import type { Authority } from '../authority/authority.ts';
import { parseBeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { followLinks } from '../capability/follow-links.ts';
import type { NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { displayPath, rootPath } from '../capability/native-path.ts';
import { runningProcess } from '../capability/process-owner.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import type { NewSessionRequest, Sessions } from '../service.ts';
import { readClock, type SessionLife } from '../sessions/session-life.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { isLease, isSessionId, type SessionRow } from '../sessions/session-table.ts';

export interface SessionsOptions {
  readonly store: SessionStore;
  readonly authority: Authority;
}

/** Offered with the embedded store: a session is only where its selector is authorised. */
export function createSessions({ store, authority }: SessionsOptions): Sessions {
  return {
    list: () => store.rows(),
    async create(request, signal) {
      const { id = `session-${randomUUID()}` } = request;
      assertId(id);
      const life = lifeOf(request);
      await using capability = await authority.authorize(request.cwd, signal);
      const directory = await directoryIn(capability, request.path);
      const session = { id, workspace: capability.root, directory, life };
      const row = await store.create(session, signal);
      await proveOrUndo(capability, () => store.close(id), signal);
      return row;
    },
    async move(id, place, signal) {
      assertId(id);
      await using capability = await authority.authorize(place.cwd, signal);
      const directory = await directoryIn(capability, place.path);
      const move = await store.beginMove(id, directory, signal);
      await proveOrUndo(capability, () => store.abandonMove(id, move), signal);
      return store.settleMove(id, move);
    },
    async renew(id, signal) {
      assertId(id);
      return store.renew(id, signal);
    },
    async close(id, signal): Promise<SessionRow> {
      assertId(id);
      return store.close(id, signal);
    },
  };
}

/**
 * Whoever takes a directory away sets it aside first and looks for sessions then. The place is written down by now, so either it was seen
 * there, or this sees that the directory is gone.
 */
async function proveOrUndo(
  capability: FileCapability,
  undo: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await capability.assertCurrent(signal);
  } catch (error) {
    // What cannot be taken back keeps a directory occupied that is gone, which does no harm.
    await undo().catch(() => undefined);
    throw error;
  }
}

/**
 * Canonical path of a directory below the root, links that stay inside followed.
 * @throws as `parseBeneathPath` | `not_directory` | `not_found` | `administrative_path` | `path_outside_workspace` | ...
 */
async function directoryIn(capability: FileCapability, path: string | undefined): Promise<string> {
  const { held, root } = capability;
  if (path === undefined) return root;
  try {
    return await followLinks(held, parseBeneathPath(path), async (canonical) => {
      await openAsDirectory(held, canonical);
      const name = displayPath(canonical);
      if (name === rootPath) return root;
      // Its place could not be written down.
      if (typeof canonical !== 'string' && !Buffer.from(name).equals(canonical)) {
        throw new AuthorityError('invalid_path', { details: { reason: 'not UTF-8' } });
      }
      return `${root}/${name}`;
    });
  } catch (error) {
    throw refusalOf(error);
  }
}

async function openAsDirectory(held: HeldRoot, path: NativePath): Promise<void> {
  try {
    (await held.directory.openDirectory(path)).close();
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR') throw error;
    // Says only that some component is no directory. Where the path exists, it was the last one; else this throws.
    await held.directory.stat(path, held.guard);
    throw new AuthorityError('not_directory', { cause: error });
  }
  await held.guard.check(path);
}

function lifeOf({ leaseSeconds, process: owner }: NewSessionRequest): SessionLife {
  if (leaseSeconds !== undefined && owner !== undefined)
    throw invalid('leaseSeconds', 'together with process');
  if (leaseSeconds !== undefined) {
    if (!isLease(leaseSeconds)) throw invalid('leaseSeconds', 'invalid');
    return { ends: 'lease', seconds: leaseSeconds, renewed: readClock() };
  }
  if (owner === undefined) return { ends: 'closed' };
  const running = runningProcess(owner.pid);
  // The number alone may be that of another PID namespace, or be another process by now.
  if (running?.startTime !== owner.startTime) throw new AuthorityError('session_owner_unknown');
  return { ends: 'process', process: running };
}

function assertId(id: string): void {
  if (!isSessionId(id)) throw invalid('id', 'invalid');
}

function invalid(field: string, reason: string): AuthorityError {
  return new AuthorityError('invalid_request', { details: { field, reason } });
}
