import { randomBytes } from 'node:crypto';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { StateDirectory } from '../capability/state-directory.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { GateKey, MutationGate } from '../mutation/mutation-gate.ts';
import {
  bytesIn,
  idShape,
  namesIn,
  removeArchive,
  removeDirectory,
  removeUnfinished,
  timeOf,
  usageOf,
} from './archive-directories.ts';
import { isOwner, type Manifest, parseManifest, printEntry, printManifest } from './archive-record.ts';
import type {
  ArchiveLimits,
  ArchiveRecovery,
  ArchiveRequest,
  ArchiveSummary,
  Archives,
  KeptEntry,
  WrittenArchive,
} from './archives.ts';
import { ContentWriter } from './content-writer.ts';
import { createHeldFile, syncHeldDirectory } from './held-names.ts';
import { keepMember, notArchivable } from './keep-member.ts';
import { damaged, OpenArchive, openContents } from './open-archive.ts';

const defaults: ArchiveLimits = {
  quotaBytes: 1024 ** 3,
  retentionDays: 30,
  fileBytes: 512 * 1024 ** 2,
  entries: 200_000,
};
const dayMs = 24 * 60 * 60 * 1000;
/** One that fills the quota takes so long on a slow disk. */
const longestTurnMs = 120_000;
/** A leftover does no harm where it lies, so a start does not wait for who is writing. */
const recoverWaitMs = 2_000;
const manifestLimitBytes = 1024 * 1024;

const finishedName = 'finished';

export interface ArchivesOptions {
  readonly limits?: Partial<ArchiveLimits>;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** Archives in `archives/` of the state directory. Several processes may share it: writing and removing take turns. */
export function createArchives(
  state: StateDirectory,
  gate: MutationGate,
  { limits = {}, now = Date.now }: ArchivesOptions = {},
): Archives {
  return new StoredArchives(state, gate, { ...defaults, ...limits }, now);
}

class StoredArchives implements Archives {
  readonly #state: StateDirectory;
  readonly #gate: MutationGate;
  readonly #limits: ArchiveLimits;
  readonly #now: () => number;
  readonly #key: GateKey;

  constructor(state: StateDirectory, gate: MutationGate, limits: ArchiveLimits, now: () => number) {
    this.#state = state;
    this.#gate = gate;
    this.#limits = limits;
    this.#now = now;
    this.#key = `file:${state.path}/archives`;
  }

  write(request: ArchiveRequest, signal?: AbortSignal): Promise<WrittenArchive> {
    if (!isOwner(request.owner)) throw new TypeError('not an owner of archives');
    return this.#inTurn((root) => this.#write(root, request, signal), signal);
  }

  async list(owner?: string): Promise<readonly ArchiveSummary[]> {
    return this.#beneath(async (root) => {
      const summaries: ArchiveSummary[] = [];
      for (const id of (await namesIn(root)).filter((name) => idShape.test(name))) {
        const found = await this.#summary(root, id);
        if (found !== null && (owner === undefined || found.owner === owner)) summaries.push(found);
      }
      return summaries;
    });
  }

  open(id: string): Promise<OpenArchive> {
    return this.#at(id, async (directory) => {
      const manifest = await readManifest(directory, id);
      const summary = await this.#summaryOf(directory, id, manifest);
      const { content, list } = await openContents(directory);
      return new OpenArchive(summary, content, list, manifest.listSha256);
    });
  }

  finish(id: string): Promise<void> {
    return this.#at(id, async (directory) => {
      const file = await createHeldFile(directory, Buffer.from(finishedName)).catch(unlessPresent);
      await file?.close();
      await syncHeldDirectory(directory);
    });
  }

  drop(id: string): Promise<void> {
    return this.#inTurn(async (root) => {
      if (!idShape.test(id) || !(await removeArchive(root, id))) throw notFound();
    });
  }

  recover(): Promise<ArchiveRecovery> {
    const tidy = async (root: DirectoryHandle): Promise<ArchiveRecovery> => ({
      halfWritten: await removeUnfinished(root),
      expired: await this.#dropExpired(root),
    });
    return this.#gate.run([this.#key], () => this.#beneath(tidy), { waitMs: recoverWaitMs });
  }

  async #write(
    root: DirectoryHandle,
    request: ArchiveRequest,
    signal?: AbortSignal,
  ): Promise<WrittenArchive> {
    await removeUnfinished(root);
    await this.#dropExpired(root);
    const { used, oldest } = await usageOf(root);
    const id = this.#newId();
    const name = `.writing-${id}`;
    await root.makeDirectory(name, 0o700, null);
    try {
      const directory = await root.openDirectory(name);
      try {
        const assertRoom = (bytes: number): void => {
          signal?.throwIfAborted();
          if (used + bytes <= this.#limits.quotaBytes) return;
          const details = {
            quotaBytes: this.#limits.quotaBytes,
            usedBytes: used,
            oldest,
          };
          throw new AuthorityError('archive_quota_exceeded', { details });
        };
        const written = await this.#fill(directory, request, assertRoom);
        await syncHeldDirectory(directory);
        await root.renameNoReplace(name, id, null);
        return { id, ...written };
      } finally {
        directory.close();
      }
    } catch (error) {
      await removeDirectory(root, name);
      throw signal?.aborted && error === signal.reason
        ? new AuthorityError('aborted', { cause: error })
        : error;
    }
  }

  async #fill(
    directory: DirectoryHandle,
    { kind, owner, facts, members }: ArchiveRequest,
    assertRoom: (bytes: number) => void,
  ): Promise<Omit<WrittenArchive, 'id'>> {
    const { fileBytes } = this.#limits;
    const content = await createHeldFile(directory, Buffer.from('content'));
    const list = await createHeldFile(directory, Buffer.from('entries'));
    try {
      const contents = new ContentWriter(content, (bytes) => assertRoom(bytes + lines.bytes));
      const lines: ContentWriter = new ContentWriter(list, (bytes) => assertRoom(bytes + contents.bytes));
      const entries: KeptEntry[] = [];
      lines.begin();
      for await (const member of members) {
        if (entries.length >= this.#limits.entries) throw notArchivable('too-many-entries', []);
        const entry = await keepMember(contents, member, fileBytes);
        entries.push(entry);
        await lines.append(Buffer.from(printEntry(entry)));
      }
      await contents.sync();
      await lines.sync();
      const manifest: Manifest = {
        kind,
        owner,
        facts,
        createdAt: new Date(this.#now()).toISOString(),
        entries: entries.length,
        contentBytes: contents.bytes,
        listSha256: lines.end().sha256,
      };
      const bytes = await writeManifest(directory, manifest);
      return { entries, bytes: contents.bytes + lines.bytes + bytes };
    } finally {
      await content.close();
      await list.close();
    }
  }

  #newId(): string {
    const time = new Date(this.#now()).toISOString().replace(/\D/g, '');
    return `${time}-${randomBytes(8).toString('hex')}`;
  }

  /** Null when it was removed meanwhile. */
  async #summary(root: DirectoryHandle, id: string): Promise<ArchiveSummary | null> {
    try {
      const directory = await root.openDirectory(id);
      try {
        return await this.#summaryOf(directory, id, await readManifest(directory, id));
      } finally {
        directory.close();
      }
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async #summaryOf(directory: DirectoryHandle, id: string, manifest: Manifest): Promise<ArchiveSummary> {
    const { kind, owner, facts, createdAt, entries } = manifest;
    const keptUntil = new Date(Date.parse(createdAt) + this.#limits.retentionDays * dayMs).toISOString();
    const names = await namesIn(directory);
    const bytes = await bytesIn(directory, names);
    const finished = names.includes(finishedName);
    return { id, kind, owner, facts, createdAt, keptUntil, entries, bytes, finished };
  }

  /** By the names alone: one that is damaged goes with its time, too. */
  async #dropExpired(root: DirectoryHandle): Promise<readonly string[]> {
    const expired: string[] = [];
    for (const id of (await namesIn(root)).filter((name) => idShape.test(name))) {
      if (timeOf(id) + this.#limits.retentionDays * dayMs > this.#now()) continue;
      if (await removeArchive(root, id)) expired.push(id);
    }
    return expired;
  }

  #at<Result>(id: string, task: (directory: DirectoryHandle) => Promise<Result>): Promise<Result> {
    return this.#beneath(async (root) => {
      if (!idShape.test(id)) throw notFound();
      const directory = await root.openDirectory(id).catch((error: unknown) => {
        throw codeOf(error) === 'ENOENT' ? notFound() : error;
      });
      try {
        return await task(directory);
      } finally {
        directory.close();
      }
    });
  }

  #inTurn<Result>(task: (root: DirectoryHandle) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const wait = { waitMs: longestTurnMs, ...(signal === undefined ? {} : { signal }) };
    return this.#gate.run([this.#key], () => this.#beneath(task), wait);
  }

  async #beneath<Result>(task: (root: DirectoryHandle) => Promise<Result>): Promise<Result> {
    const root = await this.#state.openDirectory('archives');
    try {
      return await task(root);
    } catch (error) {
      throw codeOf(error) === null && !isAuthorityError(error) ? error : refusalOf(error);
    } finally {
      root.close();
    }
  }
}

async function writeManifest(directory: DirectoryHandle, manifest: Manifest): Promise<number> {
  const bytes = printManifest(manifest);
  const file = await createHeldFile(directory, Buffer.from('manifest.json'));
  try {
    await file.writeFile(bytes);
    await file.datasync();
    return bytes.length;
  } finally {
    await file.close();
  }
}

async function readManifest(directory: DirectoryHandle, id: string): Promise<Manifest> {
  const file = await directory.openFile('manifest.json', null);
  try {
    return parseManifest(await file.readAt(0, manifestLimitBytes));
  } catch (cause) {
    throw damaged(id, 'manifest.json', cause);
  } finally {
    file.close();
  }
}

function unlessPresent(error: unknown): null {
  if (codeOf(error) === 'EEXIST') return null;
  throw error;
}

function notFound(): AuthorityError {
  return new AuthorityError('archive_not_found');
}
