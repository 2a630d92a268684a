import { z } from 'zod';
import type { Committed, FileVersion } from '../files/workspace-files.ts';
import type { Answer } from './define-route.ts';
import { etagField, okField, sha1Field } from './fields.ts';

/** Answer to a change of a file's content. */
export const changedSchema: z.ZodType = z.strictObject({
  ok: okField,
  sha1: sha1Field,
  bytes: z.int().nonnegative(),
  etag: etagField,
  recovery: z.string().optional().meta({
    description: 'Name, in the same directory, of a file that was kept because another writer owns it.',
  }),
  kept: z.array(z.string()).optional().meta({ description: 'All such names, when there are several.' }),
});

export function changedAnswer(status: number, version: FileVersion | Committed): Answer {
  const kept = 'kept' in version ? version.kept : [];
  return {
    status,
    headers: ['ETag', version.etag],
    body: {
      ok: true,
      sha1: version.sha1,
      bytes: version.size,
      etag: version.etag,
      ...(kept.length > 0 ? { recovery: kept[0] } : {}),
      ...(kept.length > 1 ? { kept } : {}),
    },
  };
}

/** Answer to a change that leaves nothing to describe. */
export const doneSchema: z.ZodType = z.strictObject({ ok: okField });

export function doneAnswer(status: number): Answer {
  return { status, body: { ok: true } };
}
