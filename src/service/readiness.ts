import type { Authority } from '../authority/authority.ts';
import { inTurns } from '../authority/in-turns.ts';
import { isAuthorityError } from '../errors/index.ts';
import { type NativeBinding, openat2Hint } from '../native/index.ts';
import type { Provers } from '../proof/provers.ts';
import type { WorkspaceRegistry } from '../registry/workspace-registry.ts';
import type { Readiness, RootReadiness } from '../service.ts';
import { readSessions } from '../sessions/check-sessions.ts';
import type { SessionGuard } from '../sessions/session-guard.ts';
import { version } from './version.ts';

export interface ReadinessSources {
  readonly binding: NativeBinding;
  readonly registry: WorkspaceRegistry;
  readonly authority: Authority;
  readonly provers: Provers;
  readonly guard: SessionGuard | null;
}

/** Each root is opened and proven; more than these would make a check of health a load of its own. `registry.rows` counts them all. */
const reportedRoots = 200;
const rootsAtOnce = 8;

/** What works now. Looks anew each time and never throws. Ready: the kernel, the registry and a prover answer. */
export async function readReadiness(sources: ReadinessSources): Promise<Readiness> {
  const kernel = kernelReadiness(sources.binding);
  const prover = await sources.provers.report();
  const { registry, paths } = await registryReadiness(sources.registry);
  const roots = await inTurns(paths.slice(0, reportedRoots), rootsAtOnce, (path) =>
    rootReadiness(sources.authority, path),
  );
  const sessions = await sessionReadiness(sources.guard);
  const ready = kernel.openat2 && registry.readable && prover.active !== 'none';
  return { ready, version, kernel, prover, registry, sessions, roots };
}

function kernelReadiness(binding: NativeBinding): Readiness['kernel'] {
  const { available, code } = binding.probe().openat2;
  return { openat2: available, code, hint: available ? null : openat2Hint(code) };
}

async function registryReadiness(
  registry: WorkspaceRegistry,
): Promise<{ readonly registry: Readiness['registry']; readonly paths: readonly string[] }> {
  try {
    const rows = await registry.list();
    return {
      registry: { readable: true, rows: rows.length, code: null },
      paths: rows.map(({ path }) => path),
    };
  } catch (error) {
    const code = isAuthorityError(error) ? error.code : 'registry_unavailable';
    return { registry: { readable: false, rows: null, code }, paths: [] };
  }
}

/** Without a session guard files and Git work all the same; nothing is archived. */
async function sessionReadiness(guard: SessionGuard | null): Promise<Readiness['sessions']> {
  try {
    const { length } = await readSessions(guard);
    return { readable: true, open: length, code: null };
  } catch (error) {
    return { readable: false, open: null, code: isAuthorityError(error) ? error.code : 'internal_error' };
  }
}

async function rootReadiness(authority: Authority, path: string): Promise<RootReadiness> {
  try {
    await using capability = await authority.authorize(path);
    const { held } = capability;
    const { supported, syscall } = await held.exchangeSupport();
    // A probe that failed before the exchange (no space, no permission) says nothing about the exchange.
    const exchange = supported ? 'supported' : syscall === 'renameat2' ? 'unsupported' : 'unknown';
    return { path, authorized: true, code: null, exchange, openWriterCheck: held.openWriterCheck };
  } catch (error) {
    const code = isAuthorityError(error) ? error.code : 'internal_error';
    return { path, authorized: false, code, exchange: 'unknown', openWriterCheck: 'unknown' };
  }
}
