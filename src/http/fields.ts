import { z } from 'zod';

/** Absolute path that names a workspace. NUL and lone surrogates cannot be part of any path, so they are a wrong shape. */
export const selectorField: z.ZodString = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0') && text.isWellFormed())
  .meta({
    description:
      'Canonical absolute path of a registered workspace, or of a worktree of a registered main checkout.',
  });

/** Checked by `parseBeneathPath` once the selector is authorised. */
export const pathField: z.ZodString = z
  .string()
  .min(1)
  .meta({ description: 'Path below the workspace: plain components separated by "/".' });

export const baseSha1Field: z.ZodOptional<z.ZodString> = z
  .string()
  .meta({ description: 'SHA-1 of the version the change is based on, 40 hex digits in any case.' })
  .optional();

/** Checked by `parseBaseRevision` once the selector is authorised. */
export const baseField: z.ZodString = z.string().meta({
  description:
    'Full object name, `refs/heads/x`, `refs/remotes/origin/x`, `origin/x`, or a branch, whose copy on `origin` comes first.',
});

export const sessionIdField: z.ZodString = z
  .string()
  .regex(/^[A-Za-z0-9_-]{8,120}$/)
  .meta({ description: 'Id of a session: 8 to 120 letters, digits, `_` and `-`.' });

export const okField: z.ZodLiteral<true> = z.literal(true);
export const sha1Field: z.ZodString = z.string().regex(/^[0-9a-f]{40}$/);
export const etagField: z.ZodString = z.string().regex(/^"sha256-[A-Za-z0-9_-]+"$/);
export const oidField: z.ZodString = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
