import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { createWorkspaceFiles } from '../files/index.ts';
import { createMutationGate } from '../mutation/gate.ts';
import { loadBinding, type NativeBinding, openat2Hint } from '../native/index.ts';
import type { Readiness, Service } from '../service.ts';
import type { ServiceOptions } from './service-options.ts';
import { version } from './version.ts';

/** The addon, or why no operation can work here. Asked once, at the start, on a directory of our own. */
export function findBinding(given: NativeBinding | undefined): NativeBinding | AuthorityError {
  try {
    const binding = given ?? loadBinding();
    const { available, code } = binding.probe().openat2;
    if (available) return binding;
    const hint = code === null ? null : openat2Hint(code);
    return new AuthorityError('kernel_capability_missing', {
      details: { syscall: 'openat2', errno: code, hint },
    });
  } catch (error) {
    if (isAuthorityError(error)) return error;
    throw error;
  }
}

/** A service that gives nothing out. It has no state: nothing here could open its files safely. */
export function createRefusingService(missing: AuthorityError, options: ServiceOptions): Service {
  const refuse = async (): Promise<never> => {
    throw missing;
  };
  const gate = createMutationGate({ leases: null });
  const { code, details } = missing;
  const service: Service = {
    authority: {
      authorize: refuse,
      authorizeRepository: refuse,
      mainCheckoutOf: refuse,
      explain: async (selector) => ({
        selector,
        authorized: false,
        facts: [
          { fact: 'kernel', expected: 'openat2', seen: String(details['errno'] ?? code), holds: false },
        ],
        result: null,
        refusal: { code, details },
      }),
      closeUnregistered: async () => undefined,
      close: async () => undefined,
    },
    // Takes only capabilities, and nobody gives one out.
    files: createWorkspaceFiles({ gate }),
    workspaces:
      options.registry === undefined ? { list: refuse, add: refuse, remove: refuse, confirm: refuse } : null,
    repositories: { detect: refuse, worktrees: refuse },
    reads: { branches: refuse, commits: refuse, diff: refuse, actions: refuse },
    pulls: { list: refuse, find: refuse },
    actions: {
      commit: refuse,
      fetch: refuse,
      push: refuse,
      pull: refuse,
      updateFromBase: refuse,
      mergeToBase: refuse,
      discard: refuse,
      discarded: refuse,
      restoreDiscarded: refuse,
    },
    worktreeArchives: {
      preflight: refuse,
      archive: refuse,
      archived: refuse,
      deferred: refuse,
      finalize: refuse,
      workspaces: refuse,
      restore: refuse,
      recover: refuse,
    },
    snapshots: { read: refuse, readMany: refuse },
    events: { subscribe: refuse, note: () => undefined },
    worktrees: { create: refuse, recover: refuse },
    sessions:
      options.sessions === 'embedded' || (options.sessions === undefined && options.registry === undefined)
        ? { list: refuse, create: refuse, move: refuse, renew: refuse, close: refuse }
        : null,
    occupants: refuse,
    confirmWorkspace: refuse,
    readiness: async () => refusingReadiness(missing, options),
    close: () => gate.close(),
    [Symbol.asyncDispose]: () => service.close(),
  };
  return service;
}

function refusingReadiness(
  { code, details }: AuthorityError,
  { prover = 'auto' }: ServiceOptions,
): Readiness {
  const errno = details['errno'];
  const hint = details['hint'];
  return {
    ready: false,
    version,
    kernel: {
      openat2: false,
      code: typeof errno === 'string' ? errno : code,
      hint: typeof hint === 'string' ? hint : null,
    },
    prover: { mode: prover, active: 'none', nodegit: 'absent', gitVersion: null },
    registry: { readable: false, rows: null, code },
    sessions: { readable: false, open: null, code },
    roots: [],
  };
}
