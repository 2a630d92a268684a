import { z } from 'zod';
import { AuthorityError } from '../../errors/index.ts';
import type { WorkspaceRow } from '../../registry/workspace-registry.ts';
import type { Workspaces } from '../../service.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';
import type { RouteContext } from '../route-context.ts';

const rowSchema = z.strictObject({
  id: z.string(),
  path: z.string(),
  title: z.string().nullable(),
  allowMounts: z.boolean(),
  registeredAt: z.string(),
});

const oneSchema = z.strictObject({ ok: okField, workspace: rowSchema });
const pathBody = z.strictObject({ path: selectorField });

export const workspacesGetRoute: Route = defineRoute({
  method: 'GET',
  path: '/workspaces',
  summary: 'The registered workspaces.',
  answers: {
    200: { description: 'All rows.', schema: z.strictObject({ ok: okField, items: z.array(rowSchema) }) },
  },
  run: async (context) => {
    const rows = await registryOf(context).list();
    return { status: 200, body: { ok: true, items: rows.map(presentRow) } };
  },
});

export const workspacesPostRoute: Route = defineRoute({
  method: 'POST',
  path: '/workspaces',
  access: 'operator',
  summary: 'Register a directory as a workspace.',
  body: z.strictObject({
    path: selectorField,
    title: z.string().min(1).max(200).optional(),
    allowMounts: z.boolean().optional(),
  }),
  answers: { 201: { description: 'The row was written.', schema: oneSchema } },
  run: async (context, _query, body) => {
    const row = await registryOf(context).add(body.path, {
      ...(body.title === undefined ? {} : { title: body.title }),
      ...(body.allowMounts === undefined ? {} : { allowMounts: body.allowMounts }),
    });
    return { status: 201, body: { ok: true, workspace: presentRow(row) } };
  },
});

export const workspacesDeleteRoute: Route = defineRoute({
  method: 'DELETE',
  path: '/workspaces',
  access: 'operator',
  summary: 'Take a workspace off the registry; nothing below it is touched.',
  body: pathBody,
  answers: { 200: { description: 'The row is gone.', schema: oneSchema } },
  run: async (context, _query, body) => {
    const row = await registryOf(context).remove(body.path);
    return { status: 200, body: { ok: true, workspace: presentRow(row) } };
  },
});

export const workspacesConfirmRoute: Route = defineRoute({
  method: 'POST',
  path: '/workspaces/confirm',
  access: 'operator',
  summary: 'Accept what stands under the path now as the workspace.',
  body: pathBody,
  answers: {
    200: { description: 'The pinned identities are renewed, also for a row of the host.', schema: oneSchema },
  },
  run: async (context, _query, body) => {
    const row = await context.service.confirmWorkspace(body.path);
    return { status: 200, body: { ok: true, workspace: presentRow(row) } };
  },
});

/** @throws `not_offered` where the registry belongs to the host */
function registryOf({ service }: RouteContext): Workspaces {
  if (service.workspaces === null) throw new AuthorityError('not_offered');
  return service.workspaces;
}

/** The pinned identities stay inside. */
function presentRow(row: WorkspaceRow): object {
  const { id, path, title, allowMounts, registeredAt } = row;
  return { id, path, title, allowMounts, registeredAt };
}
