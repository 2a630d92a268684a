import type { z } from 'zod';
import { AuthorityError } from '../../errors/index.ts';

/** Literal for the legacy `error` field, by name of the field that is missing or wrong; `name[]` for an item of a list. */
export type ShapeTexts = Readonly<Record<string, string>>;

const nameLimit = 64;

/**
 * Parses a query or a body by its strict schema. The refusal names the first offending field and why, never its value.
 * Without a schema nothing may be sent.
 * @throws `invalid_request` (details.field, details.reason)
 */
export function readShape(schema: z.ZodType | undefined, value: unknown, texts: ShapeTexts): unknown {
  if (schema === undefined) {
    for (const name of Object.keys(value as object)) throw invalidField(name, 'unknown', texts);
    return value;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw describeIssue(result.error.issues[0], value, texts);
}

/** @param name as the caller sent it; shown only when it is short and printable */
export function invalidField(name: string, reason: string, texts: ShapeTexts = {}): AuthorityError {
  const field = name.length <= nameLimit && /^[\x21-\x7e]+$/.test(name) ? name : '(unprintable)';
  return refusal(field, reason, reason === 'repeated' ? undefined : textFor(name, texts));
}

function textFor(name: string, texts: ShapeTexts): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function refusal(field: string, reason: string, legacy: string | undefined): AuthorityError {
  return new AuthorityError('invalid_request', {
    details: { field, reason },
    ...(legacy === undefined ? {} : { legacy }),
  });
}

function describeIssue(
  issue: z.core.$ZodIssue | undefined,
  value: unknown,
  texts: ShapeTexts,
): AuthorityError {
  if (issue?.code === 'unrecognized_keys') return invalidField(issue.keys[0] ?? '', 'unknown', texts);
  const name = String(issue?.path[0] ?? '');
  if (typeof issue?.path[1] === 'number')
    return refusal(name, 'invalid item', textFor(`${name}[]`, texts) ?? textFor(name, texts));
  if (issue?.code !== 'invalid_type') return invalidField(name, 'invalid', texts);
  const missing = (value as Record<string, unknown>)[name] === undefined;
  return invalidField(name, missing ? 'missing' : 'wrong type', texts);
}
