import { z } from 'zod';
import type { ListedEntry } from '../../files/workspace-files.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, pathField, selectorField } from '../fields.ts';
import { invalidField } from '../gates/shape.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';

const entrySchema = z.strictObject({
  name: z
    .string()
    .nullable()
    .meta({ description: 'Null when it is no UTF-8: seen, but not to be addressed.' }),
  undecodable: z.literal(true).optional(),
  type: z.enum(['file', 'directory', 'symlink', 'other']),
  size: z.int().nonnegative(),
  mtime: z.number().meta({ description: 'Milliseconds since 1970.' }),
  executable: z.boolean(),
  linkTarget: z.enum(['inside', 'outside', 'broken']).optional(),
});

/** Administrative entries are left out. */
export const listRoute: Route = defineRoute({
  method: 'GET',
  path: '/list',
  summary: 'Entries of a directory, sorted by the bytes of their names.',
  query: z.strictObject({
    cwd: selectorField,
    path: pathField.optional(),
    cursor: z.string().min(1).optional(),
    limit: z
      .string()
      .regex(/^[1-9][0-9]{0,8}$/)
      .optional(),
  }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'One page of entries.',
      schema: z.strictObject({
        ok: okField,
        entries: z.array(entrySchema),
        cursor: z.string().nullable().meta({ description: 'Asks for the next page; null at the end.' }),
      }),
    },
  },
  run: (context, query) =>
    inWorkspace(context, query.cwd, async (capability) => {
      const { service, limits } = context;
      const path = query.path === undefined ? null : targetOf(context, query.path);
      const limit = query.limit === undefined ? limits.listEntries : Number(query.limit);
      if (limit > limits.listEntries) throw invalidField('limit', 'too large');
      const options = { limit, ...(query.cursor === undefined ? {} : { cursor: query.cursor }) };
      const listing = await service.files.list(capability, path, options);
      return {
        status: 200,
        body: { ok: true, entries: listing.entries.map(presentEntry), cursor: listing.cursor },
      };
    }),
});

function presentEntry(entry: ListedEntry): object {
  return {
    name: entry.name,
    ...(entry.undecodable ? { undecodable: true } : {}),
    type: entry.type,
    size: entry.size,
    mtime: entry.modifiedMs,
    executable: entry.executable,
    ...(entry.linkTarget === null ? {} : { linkTarget: entry.linkTarget }),
  };
}
