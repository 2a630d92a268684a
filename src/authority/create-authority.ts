import { setMaxListeners } from 'node:events';
import type { FileCapability } from '../capability/file-capability.ts';
import { emptyFacts, isDirectoryMode, modeOf } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import {
  mintFileCapability,
  mintManagedWorktreeCapability,
  mintRepositoryCapability,
} from '../capability/mint.ts';
import {
  type HeldRepository,
  isRepository,
  type RepositoryCapability,
} from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { establish, type FactLog, type ProofFact } from '../proof/facts.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import { abortable } from './abortable.ts';
import type { Authority, Explanation } from './authority.ts';
import { createPathCanonicalizer } from './canonical-path.ts';
import { assertStillProven } from './current-proof.ts';
import type { Delegate } from './delegate.ts';
import { lendProven } from './lend-proven.ts';
import { CachedMainCheckouts, claimedRowOf } from './main-checkouts.ts';
import type { AuthorityOptions } from './ports.ts';
import type { ProofContext, Standing } from './proof-context.ts';
import { proveWorkspace } from './prove-workspace.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { findRow } from './registry-rows.ts';
import { notAuthorized, parseSelector } from './selector.ts';
import { isStillRegistered } from './still-registered.ts';
import { surveyWorkspace, type WorkspaceSurveyor } from './survey-workspace.ts';
import { type Subject, WorkspaceCache } from './workspace-cache.ts';

/** Milliseconds between two looks whether rows are gone whose directories are kept open. */
const sweepMs = 30_000;

/** Enough for every workspace of one person; some hundred descriptors. */
const defaultCapacity = 256;

/**
 * The decision from a selector to a capability, in this order: the text, the row in the registry as it is now, and without one a
 * worktree, managed or linked, of a registered main checkout; then the directory under the path with its pinned identity, what it lies
 * in, its repository (R02, R03, R05, R30-R34).
 */
export function createAuthority(options: AuthorityOptions): Authority & WorkspaceSurveyor {
  return new RegistryAuthority(options);
}

class RegistryAuthority implements Authority, WorkspaceSurveyor {
  readonly #options: AuthorityOptions;
  readonly #canonicalizer = createPathCanonicalizer();
  readonly #cache: WorkspaceCache;
  readonly #mainCache: WorkspaceCache;
  readonly #mains: CachedMainCheckouts;
  readonly #closing = new AbortController();
  #top: Promise<DirectoryHandle> | null = null;
  readonly #sweep: NodeJS.Timeout;
  #isSweeping = false;
  /** What the capabilities of worktrees hold of their main checkouts. */
  readonly #delegates = new WeakMap<HeldRepository, Delegate>();

  constructor(options: AuthorityOptions) {
    this.#options = options;
    const { capacity = defaultCapacity, registry } = options;
    // Every running proof listens to it; that they are many is no leak.
    setMaxListeners(0, this.#closing.signal);
    this.#cache = new WorkspaceCache(capacity, (subject) => this.#prove(subject, standingOf(subject), null));
    this.#mainCache = new WorkspaceCache(capacity, (subject) => this.#prove(subject, 'main', null));
    this.#mains = new CachedMainCheckouts(registry, this.#mainCache);
    this.#sweep = setInterval(() => void this.#sweepOnce(), sweepMs).unref();
  }

  async authorize(selector: string, signal?: AbortSignal): Promise<FileCapability> {
    return this.#authorizeNow(selector, signal) ?? this.#authorizeWaiting(selector, signal);
  }

  async authorizeRepository(selector: string, signal?: AbortSignal): Promise<RepositoryCapability> {
    const capability = await this.authorize(selector, signal);
    if (isRepository(capability)) return capability;
    const nested = capability.gitBoundary === 'nested';
    await capability[Symbol.asyncDispose]();
    throw new AuthorityError(nested ? 'git_root_not_authorized' : 'git_repository_required');
  }

  async mainCheckoutOf(
    capability: RepositoryCapability,
    signal?: AbortSignal,
  ): Promise<RepositoryCapability> {
    this.#assertOpen(signal);
    const delegate = this.#delegates.get(capability.repository);
    const main = delegate === undefined ? capability.retain() : this.#mintMain(delegate);
    try {
      await main.assertCurrent(signal);
      return main;
    } catch (error) {
      await main[Symbol.asyncDispose]();
      throw error;
    }
  }

  async explain(selector: string, signal?: AbortSignal): Promise<Explanation> {
    const facts: ProofFact[] = [];
    try {
      const subject = await this.#findSubject(selector, facts, signal);
      const workspace = await this.#prove(subject, standingOf(subject), facts, signal);
      const { kind, gitBoundary, held } = workspace;
      workspace.close();
      const result = { kind, gitBoundary, root: held.path };
      return { selector, authorized: true, facts, result, refusal: null };
    } catch (error) {
      if (!isAuthorityError(error) || error.code === 'aborted') throw error;
      if (facts.every(({ holds }) => holds)) facts.push(factOfRefusal(error));
      const refusal = { code: error.code, details: error.details };
      return { selector, authorized: false, facts, result: null, refusal };
    }
  }

  survey: WorkspaceSurveyor['survey'] = async (path, options = {}) =>
    surveyWorkspace(await this.#context(), path, options);

  async closeUnregistered(): Promise<void> {
    // Worktrees first: they hold what is kept of their main checkouts.
    for (const cache of [this.#cache, this.#mainCache]) {
      for (const kept of cache.kept()) {
        if (!(await isStillRegistered(this.#options.registry, kept))) cache.drop(kept.subject.path);
      }
    }
  }

  /** None while the last one still waits: a registry of the host may hang, and would be asked by ever more of them. */
  async #sweepOnce(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      await this.closeUnregistered();
    } catch {
      // A registry that cannot be read says nothing of a row; the next look will.
    } finally {
      this.#isSweeping = false;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    this.#closing.abort(new AuthorityError('shutting_down'));
    await this.#cache.close();
    await this.#mainCache.close();
    const top = await this.#top?.catch(() => null);
    top?.close();
  }

  /** The warm way: no wait, no process, no thread. Null where any step would have to wait, or something is not as it was. */
  #authorizeNow(selector: string, signal?: AbortSignal): FileCapability | null {
    this.#assertOpen(signal);
    if (!this.#cache.has(selector)) return null;
    const row = findRow(this.#options.registry, selector);
    if (row instanceof Promise) {
      // The waiting way asks again and reports the failure; a rejection that nobody hears would end the process.
      row.catch(() => undefined);
      return null;
    }
    const subject = { path: selector, row };
    const workspace = this.#cache.take(subject);
    return workspace === null ? null : this.#mint(workspace, subject);
  }

  async #authorizeWaiting(selector: string, signal?: AbortSignal): Promise<FileCapability> {
    const subject = await this.#findSubject(selector, null, signal);
    const obtain = async () => {
      const workspace = await abortable(this.#obtain(subject), signal);
      this.#assertOpen(signal);
      return workspace;
    };
    return lendProven(obtain, (workspace) => this.#mint(workspace, subject));
  }

  async #obtain(subject: Subject): Promise<ProvenWorkspace> {
    try {
      return await this.#cache.obtain(subject);
    } catch (error) {
      // What gives no authority any more must not stay open.
      this.#cache.drop(subject.path);
      throw error;
    }
  }

  /**
   * What a selector means. A spelling that is itself a registered path means that row and nothing else, wherever a link in its place
   * leads (R05); any other spelling is followed once to what it leads to. Without a row it may be a worktree, whose selector must be
   * its canonical path (R30, decisions 1.5).
   */
  async #findSubject(selector: string, log: FactLog, signal?: AbortSignal): Promise<Subject> {
    this.#assertOpen(signal);
    const path = parseSelector(selector);
    const { registry } = this.#options;
    const direct = await findRow(registry, path);
    const canonical = direct === null ? await this.#canonicalize(path) : path;
    // Where nothing stands, these are the steps of an unregistered directory.
    const leadsElsewhere = canonical !== null && canonical !== path;
    const row = leadsElsewhere ? await findRow(registry, canonical) : direct;
    this.#assertOpen(signal);
    if (row !== null) {
      log?.push({ fact: 'registry row', expected: 'one, or a worktree of one', seen: row.id, holds: true });
      return { path: row.path, row };
    }
    const spelled = canonical === selector;
    log?.push({ fact: 'registry row', expected: 'one, or a worktree of one', seen: 'none', holds: true });
    const fact = {
      fact: 'selector',
      expected: 'a canonical path',
      seen: spelled ? 'so' : 'another spelling',
    };
    const seen = canonical === null ? { ...fact, seen: 'nothing stands there' } : fact;
    if (!spelled) this.#cache.drop(path);
    establish(log, seen, spelled, notAuthorized);
    return { path, row };
  }

  /** A path that memory knows to lead to a directory without links is canonical; so it does not wait for the lookups of others. */
  async #canonicalize(path: string): Promise<string | null> {
    if (isKnownDirectory(await this.#openTop(), path)) return path;
    return this.#canonicalizer.canonicalize(path);
  }

  async #prove(
    subject: Subject,
    standing: Standing,
    log: FactLog,
    signal?: AbortSignal,
  ): Promise<ProvenWorkspace> {
    const ending = this.#closing.signal;
    const stop = signal === undefined ? ending : AbortSignal.any([signal, ending]);
    const { pins, ...context } = await this.#context();
    // Only rows are pinned: what has none is proven by the row of another.
    const pinning = pins !== undefined && subject.row !== null ? { pins } : {};
    return proveWorkspace({ ...context, ...pinning }, claimedRowOf(subject), standing, log, stop);
  }

  #mint(workspace: ProvenWorkspace, { row }: Subject): FileCapability {
    const context = () => this.#context();
    const { kind, gitBoundary, repository } = workspace;
    const proof = {
      kind,
      held: workspace.held.retain(),
      assertCurrent: (signal?: AbortSignal) =>
        assertStillProven(this.#options.registry, context, workspace, row !== null, signal),
    } as const;
    if (gitBoundary !== 'root' || repository === null) return mintFileCapability({ ...proof, gitBoundary });
    const lent = { gitBoundary, repository: repository.lend() };
    if (repository.delegate !== null) this.#delegates.set(lent.repository, repository.delegate);
    const managed = repository.managed?.facts ?? null;
    if (kind !== 'managed-worktree' || managed === null)
      return mintRepositoryCapability({ ...proof, ...lent });
    return mintManagedWorktreeCapability({ ...proof, ...lent, kind, managed });
  }

  #mintMain({ workspace, row }: Delegate): RepositoryCapability {
    const { kind, held, repository } = workspace;
    if (repository === null) throw new AuthorityError('internal_error');
    const context = () => this.#context();
    return mintRepositoryCapability({
      kind,
      gitBoundary: 'root',
      held: held.retain(),
      repository: repository.lend(),
      assertCurrent: (signal) =>
        assertStillProven(this.#options.registry, context, workspace, row !== null, signal),
    });
  }

  async #context(): Promise<ProofContext> {
    const { registry: _, capacity: __, ...options } = this.#options;
    // There is no geteuid where there is no addon either.
    const owner = process.geteuid?.() ?? -1;
    return { ...options, owner, top: await this.#openTop(), mains: this.#mains };
  }

  #openTop(): Promise<DirectoryHandle> {
    this.#top ??= this.#options.native.openRoot('/', { allowMounts: true }).catch((error: unknown) => {
      this.#top = null;
      throw translateStorageFailure(error);
    });
    return this.#top;
  }

  #assertOpen(signal?: AbortSignal): void {
    if (signal?.aborted) throw new AuthorityError('aborted', { cause: signal.reason });
    if (this.#closing.signal.aborted) throw new AuthorityError('shutting_down');
  }
}

const scratch = emptyFacts();

function isKnownDirectory(top: DirectoryHandle, path: string): boolean {
  try {
    return path !== '/' && top.factsCached(path.slice(1), scratch) && isDirectoryMode(modeOf(scratch));
  } catch {
    return false;
  }
}

function standingOf({ row }: Subject): Standing {
  return row === null ? 'unregistered' : 'registered';
}

/** For a step that could not look at its fact at all. */
function factOfRefusal({ code, details }: AuthorityError): ProofFact {
  const { file, field, prover, reason } = details;
  const fact = [file, field, prover].find((name) => typeof name === 'string') ?? 'next step';
  return {
    fact: String(fact),
    expected: 'usable',
    seen: typeof reason === 'string' ? reason : code,
    holds: false,
  };
}
