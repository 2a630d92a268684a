import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path/posix';
import { isHostObject, methodOf, textOf } from './host-services.ts';

/** A place below the directory of session logs where a log lies, or may lie. */
export interface SessionLog {
  /** By its directory's name. The host takes ids as they come and escapes them. */
  readonly sessionId: string;
  /** Asks whether the log is (still) there. A directory without one is what a session leaves that never said anything, or whose log was removed. */
  isThere(): Promise<boolean>;
}

/** `session.jsonl`, `session.jsonl.zstd` (0.1.x), `session.v4.jsonl.zstd` (0.2.x). */
const logName = /^session(\.v\d+)?\.jsonl(\.zstd)?$/;
/** The layout before directories of sessions, which the host refuses or leaves out. */
const flatLogName = /\.jsonl(\.zstd)?$/;

/**
 * Where the host keeps its logs, as `<directory>/<project>/<session>/<log>`. Its persistence says so itself (`locate`, all of 0.1.x); null where it does
 * not.
 */
export function locateSessionLogs(persistence: unknown): string | null {
  const location = methodOf(persistence, 'locate')?.({ id: 'any' });
  if (!isHostObject(location) || location['kind'] !== 'jsonl') return null;
  const path = textOf(location, 'path');
  return path?.startsWith('/') === true ? dirname(dirname(dirname(path))) : null;
}

/**
 * All logs below the directory. The host's own list leaves out, without a word, those whose first line it cannot read and what lies behind a
 * link; this one leaves out nothing. A directory that is not there holds none: the host makes it with the first log.
 * @throws the error of readdir(2) where a directory cannot be listed
 */
export async function findSessionLogs(directory: string): Promise<readonly SessionLog[]> {
  const logs: SessionLog[] = [];
  for (const project of await entriesOf(directory)) {
    const projectPath = `${directory}/${project.name}`;
    if (project.isSymbolicLink()) logs.push(certain(project.name));
    if (!project.isDirectory()) continue;
    for (const entry of await entriesOf(projectPath)) {
      if (entry.isDirectory()) logs.push(inDirectory(`${projectPath}/${entry.name}`));
      else if (entry.isSymbolicLink() || flatLogName.test(entry.name)) logs.push(certain(entry.name));
    }
  }
  return logs;
}

/** Undoes the host's escape: every UTF-16 unit but `[A-Za-z0-9._-]` stands as `~` and four hexadecimal digits. */
export function sessionIdOf(directoryName: string): string {
  return directoryName.replace(/~([0-9A-F]{4})/g, (_whole, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function inDirectory(path: string): SessionLog {
  return {
    sessionId: sessionIdOf(basename(path)),
    isThere: async () => (await entriesOf(path)).some(({ name }) => logName.test(name)),
  };
}

function certain(name: string): SessionLog {
  return { sessionId: sessionIdOf(name.replace(flatLogName, '')), isThere: async () => true };
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
