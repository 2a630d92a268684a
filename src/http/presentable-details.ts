type Details = Readonly<Record<string, unknown>>;

/** Details are small facts; what nests deeper than this is dropped. */
const depthLimit = 4;

/**
 * The details a caller may see. The rooms below promise to name no foreign path; this is the second line: a text that holds an
 * absolute path outside the authorised root is left out, and so is whatever JSON cannot carry. Bigints become decimal strings.
 */
export function presentableDetails(details: Details, root: string | null): Details {
  return presentObject(details, root, depthLimit);
}

function presentObject(source: Details, root: string | null, depth: number): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(source)) {
    const presented = presentValue(value, root, depth);
    if (presented !== undefined) shown[name] = presented;
  }
  return shown;
}

function presentValue(value: unknown, root: string | null, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return namesForeignPath(value, root) ? undefined : value;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    case 'boolean':
      return value;
    case 'bigint':
      return value.toString();
    case 'object':
      if (value === null) return null;
      if (depth === 0 || value instanceof Error) return undefined;
      if (Array.isArray(value)) {
        return value.map((item) => presentValue(item, root, depth - 1)).filter((item) => item !== undefined);
      }
      return presentObject(value as Details, root, depth - 1);
    default:
      return undefined;
  }
}

/** A slash that begins a word begins an absolute path. */
function namesForeignPath(text: string, root: string | null): boolean {
  for (const [path] of text.matchAll(/(?<![^\s'"`(=:])\/[^\s'"`]+/g)) {
    if (root === null || (path !== root && !path.startsWith(`${root}/`))) return true;
  }
  return false;
}
