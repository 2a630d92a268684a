import type { Route } from '../define-route.ts';
import type { HttpOptions } from '../options.ts';
import { actionRoute } from './action.ts';
import { actionsRoute } from './actions.ts';
import { branchesRoute } from './branches.ts';
import { commitsRoute } from './commits.ts';
import { detectRoute } from './detect.ts';
import { diffRoute } from './diff.ts';
import { directoryDeleteRoute } from './directory-delete.ts';
import { discardedRestoreRoute, discardedRoute } from './discarded.ts';
import { eventsRoute } from './events.ts';
import { explainRoute } from './explain.ts';
import { fileDeleteRoute } from './file-delete.ts';
import { fileGetRoute } from './file-get.ts';
import { filePostRoute } from './file-post.ts';
import { filePutRoute } from './file-put.ts';
import { healthzRoute, readyzRoute } from './health.ts';
import { listRoute } from './list.ts';
import { mkdirRoute } from './mkdir.ts';
import { openapiRoute } from './openapi.ts';
import { pullRoute, pullsRoute } from './pulls.ts';
import { rawRoute } from './raw.ts';
import { renameRoute } from './rename.ts';
import { sessionOccupantsRoute } from './session-occupants.ts';
import { sessionsDeleteRoute, sessionsGetRoute, sessionsPatchRoute, sessionsPostRoute } from './sessions.ts';
import { signInRoute } from './sign-in.ts';
import { snapshotRoute } from './snapshot.ts';
import { snapshotsRoute } from './snapshots.ts';
import {
  workspacesConfirmRoute,
  workspacesDeleteRoute,
  workspacesGetRoute,
  workspacesPostRoute,
} from './workspaces.ts';
import { worktreeArchiveRoute, worktreeRestoreRoute, worktreesArchivedRoute } from './worktree-archive.ts';
import { worktreePreflightRoute } from './worktree-preflight.ts';
import { worktreesRoute } from './worktrees.ts';
import { worktreesCreateRoute } from './worktrees-create.ts';
import {
  worktreesDeferredRoute,
  worktreesFinalizeRoute,
  worktreeWorkspacesRoute,
} from './worktrees-deferred.ts';

export const healthRoutes: readonly Route[] = [healthzRoute, readyzRoute];

/** Every route there is. What is not in this table is `route_unknown`. */
export function apiRoutes(options: Pick<HttpOptions, 'signIn'>): readonly Route[] {
  const routes: Route[] = [
    detectRoute,
    worktreesRoute,
    worktreePreflightRoute,
    worktreesCreateRoute,
    worktreeArchiveRoute,
    worktreesArchivedRoute,
    worktreeRestoreRoute,
    worktreesDeferredRoute,
    worktreesFinalizeRoute,
    worktreeWorkspacesRoute,
    branchesRoute,
    commitsRoute,
    diffRoute,
    pullsRoute,
    pullRoute,
    actionsRoute,
    actionRoute,
    discardedRoute,
    discardedRestoreRoute,
    snapshotRoute,
    snapshotsRoute,
    eventsRoute,
    fileGetRoute,
    filePostRoute,
    filePutRoute,
    fileDeleteRoute,
    rawRoute,
    listRoute,
    renameRoute,
    mkdirRoute,
    directoryDeleteRoute,
    explainRoute,
    workspacesGetRoute,
    workspacesPostRoute,
    workspacesDeleteRoute,
    workspacesConfirmRoute,
    sessionsGetRoute,
    sessionsPostRoute,
    sessionsPatchRoute,
    sessionsDeleteRoute,
    sessionOccupantsRoute,
    ...healthRoutes,
  ];
  if (options.signIn !== undefined) routes.push(signInRoute(options.signIn));
  return [...routes, openapiRoute(routes)];
}
