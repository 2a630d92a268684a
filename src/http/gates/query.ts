import { invalidField } from './shape.ts';

/** Without a prototype: a parameter named `__proto__` or `constructor` is only an unknown parameter. */
type Query = Record<string, string>;

/**
 * Reads `name=value` pairs strictly: a name that comes twice, an escape that is no UTF-8 and a pair without a name are refused, so
 * that no two readers of one request can see different selectors.
 * @throws `invalid_request` (details.field, details.reason)
 */
export function parseQuery(text: string): Query {
  const query = Object.create(null) as Query;
  if (text === '') return query;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), '');
    if (name === '') throw invalidField('', 'empty name');
    if (query[name] !== undefined) throw invalidField(name, 'repeated');
    query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1), name);
  }
  return query;
}

function decode(text: string, name: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw invalidField(name, 'invalid escape');
  }
}
