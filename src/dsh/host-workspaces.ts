import { type HostServices, isHostObject, methodOf, textOf } from './host-services.ts';

/**
 * One row of the host's registry. In 0.1.x and 0.2.x `ctx.workspaceRegistry.list()` answers synchronously with entities that have these
 * fields, in the order of the registry; a row that is being created or deleted is not among them.
 */
export interface HostWorkspace {
  readonly id: string;
  /** What realpath(3) said when the row was created; the host never looks at it again. */
  readonly path: string;
  readonly title: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Ids of the sessions that were created in it. The host leaves out those whose directory does not resolve. */
  readonly sessionIds: readonly string[];
  /** The host's own object, the same one for the same row as long as the host runs. */
  readonly entity: object;
}

/**
 * The rows there are now. Never `workspace.json`: while a host runs, that file is only what it last wrote.
 * @throws Error whose message says what is wrong, without paths: the service is absent or not started, or what it says is inconsistent
 */
export function readHostWorkspaces(host: HostServices): readonly HostWorkspace[] {
  const registry = host.get('workspaceRegistry');
  const [list, get] = [methodOf(registry, 'list'), methodOf(registry, 'get')];
  if (list === undefined || get === undefined) throw new Error('the host has no workspace registry');
  const answer = list();
  if (!Array.isArray(answer)) throw new Error('the workspace registry answered with something else');
  const workspaces = answer.map(parseWorkspace);
  for (const { id, entity } of workspaces) {
    // A row that is listed and not known is one that is being taken away, or worse.
    if (get(id) !== entity) throw new Error('the workspace registry lists a row that it does not know');
  }
  if (new Set(workspaces.map(({ id }) => id)).size < workspaces.length) {
    throw new Error('the workspace registry has an id twice');
  }
  if (new Set(workspaces.map(({ path }) => path)).size < workspaces.length) {
    throw new Error('the workspace registry contains ambiguous path ownership: a path occurs twice');
  }
  return workspaces;
}

/**
 * Ids of the sessions that were put away. An archived session keeps its log and its directory, and can be taken back.
 * @throws Error as `readHostWorkspaces`
 */
export function readArchivedSessionIds(host: HostServices): ReadonlySet<string> {
  const registry = host.get('workspaceRegistry');
  const ids = isHostObject(registry) ? registry['archivedSessionIds'] : undefined;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) {
    throw new Error('the workspace registry does not say which sessions are archived');
  }
  return new Set(ids);
}

function parseWorkspace(entity: unknown): HostWorkspace {
  if (!isHostObject(entity)) throw new Error('the workspace registry lists something that is no row');
  const id = textOf(entity, 'id');
  const path = textOf(entity, 'path');
  const title = textOf(entity, 'title');
  const createdAt = textOf(entity, 'createdAt');
  const { sessionIds } = entity;
  const isWhole = id !== null && path !== null && title !== null && createdAt !== null;
  if (!isWhole || !Array.isArray(sessionIds) || !sessionIds.every((one) => typeof one === 'string')) {
    throw new Error('the workspace registry lists a row that lacks a field');
  }
  return { id, path, title, createdAt, sessionIds, entity };
}
