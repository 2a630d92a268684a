import type { FileCapability } from '../capability/file-capability.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { mintFileCapability, mintRepositoryCapability } from '../capability/mint.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { FactLog, ProofFact } from '../proof/facts.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import type { WorkspaceRow } from '../registry/workspace-registry.ts';
import type { Authority, Explanation } from './authority.ts';
import { createPathCanonicalizer } from './canonical-path.ts';
import { assertStillProven } from './current-proof.ts';
import type { AuthorityOptions } from './ports.ts';
import { type ProofContext, proveWorkspace } from './prove-workspace.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { findRow } from './registry-rows.ts';
import { notAuthorized, parseSelector } from './selector.ts';
import { surveyWorkspace, type WorkspaceSurveyor } from './survey-workspace.ts';
import { WorkspaceCache } from './workspace-cache.ts';

/** Enough for every workspace of one person; some hundred descriptors. */
const defaultCapacity = 256;

/** A workspace that was proven may be evicted before it is lent; so often in a row means that the cache is far too small. */
const lendAttempts = 8;

/**
 * The decision from a selector to a capability. In this order: the text, the row in the registry as it is now, the directory under
 * the row's path with its pinned identity, what it lies in, its repository (R02, R03, R05).
 */
export function createAuthority(options: AuthorityOptions): Authority & WorkspaceSurveyor {
  return new RegistryAuthority(options);
}

class RegistryAuthority implements Authority, WorkspaceSurveyor {
  readonly #options: AuthorityOptions;
  readonly #canonicalizer = createPathCanonicalizer();
  readonly #cache: WorkspaceCache;
  readonly #closing = new AbortController();
  #top: Promise<DirectoryHandle> | null = null;

  constructor(options: AuthorityOptions) {
    this.#options = options;
    this.#cache = new WorkspaceCache(options.capacity ?? defaultCapacity, (row) => this.#prove(row, null));
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

  async explain(selector: string, signal?: AbortSignal): Promise<Explanation> {
    const facts: ProofFact[] = [];
    try {
      const row = await this.#findRow(selector, facts, signal);
      const workspace = await this.#prove(row, facts, signal);
      const { gitBoundary, held } = workspace;
      workspace.close();
      const result = { kind: 'workspace', gitBoundary, root: held.path };
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

  async close(): Promise<void> {
    this.#closing.abort(new AuthorityError('shutting_down'));
    await this.#cache.close();
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
    if (row === null) return null;
    const workspace = this.#cache.take(row);
    return workspace === null ? null : this.#mint(workspace);
  }

  async #authorizeWaiting(selector: string, signal?: AbortSignal): Promise<FileCapability> {
    const row = await this.#findRow(selector, null, signal);
    for (let attempt = 0; attempt < lendAttempts; attempt += 1) {
      const workspace = await abortable(this.#cache.obtain(row), signal);
      this.#assertOpen(signal);
      if (!workspace.isClosed) return this.#mint(workspace);
    }
    throw new AuthorityError('busy', { details: { what: 'workspace cache' } });
  }

  /**
   * The row a selector means. A spelling that is itself a registered path means that row and nothing else, wherever a link in its
   * place leads (R05); any other spelling is followed once to what it leads to (decisions 1.5).
   */
  async #findRow(selector: string, log: FactLog, signal?: AbortSignal): Promise<WorkspaceRow> {
    this.#assertOpen(signal);
    const path = parseSelector(selector);
    const { registry } = this.#options;
    const direct = await findRow(registry, path);
    const canonical = direct === null ? await this.#canonicalizer.canonicalize(path) : path;
    // Asked also where nothing stands: an absent directory takes the same steps as an unregistered one.
    const row = direct ?? (await findRow(registry, canonical ?? path));
    this.#assertOpen(signal);
    if (row === null) {
      this.#cache.drop(path);
      log?.push({ fact: 'registry row', expected: 'one', seen: 'none', holds: false });
      throw notAuthorized();
    }
    log?.push({ fact: 'registry row', expected: 'one', seen: row.id, holds: true });
    return row;
  }

  async #prove(row: WorkspaceRow, log: FactLog, signal?: AbortSignal): Promise<ProvenWorkspace> {
    const ending = this.#closing.signal;
    const stop = signal === undefined ? ending : AbortSignal.any([signal, ending]);
    return proveWorkspace(await this.#context(), row, log, stop);
  }

  #mint(workspace: ProvenWorkspace): FileCapability {
    const context = () => this.#context();
    const proof = {
      kind: 'workspace',
      held: workspace.held.retain(),
      assertCurrent: (signal?: AbortSignal) =>
        assertStillProven(this.#options.registry, context, workspace, signal),
    } as const;
    const { gitBoundary } = workspace;
    const repository = workspace.lendRepository();
    if (gitBoundary !== 'root') return mintFileCapability({ ...proof, gitBoundary });
    if (repository === null) throw new AuthorityError('internal_error');
    return mintRepositoryCapability({ ...proof, gitBoundary, repository });
  }

  async #context(): Promise<ProofContext> {
    const { native, prover, protectedDirectories, pins } = this.#options;
    // There is no geteuid where there is no addon either.
    const owner = process.geteuid?.() ?? -1;
    return { native, prover, protectedDirectories, ...(pins && { pins }), owner, top: await this.#openTop() };
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

function isRepository(capability: FileCapability): capability is RepositoryCapability {
  return capability.gitBoundary === 'root';
}

/** Ends the wait when the caller goes away; the shared proof goes on for the others. */
async function abortable<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return work;
  let onAbort: (() => void) | undefined;
  const gone = new Promise<never>((_, reject) => {
    onAbort = () => reject(new AuthorityError('aborted', { cause: signal.reason }));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, gone]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
