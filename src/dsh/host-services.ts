/**
 * What this package asks of its host, a Cordis context: services by name, as they are at the time of the call. `get` is the optional read of
 * every version; it answers with undefined for a service that is not mounted or not started.
 */
export interface HostServices {
  get(name: string): unknown;
}

/** An object of the host of which only some members are known. */
export type HostObject = Readonly<Record<string, unknown>>;

export function isHostObject(value: unknown): value is HostObject {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}

/** Calls a method as a method; undefined where there is none. */
export function methodOf(
  object: unknown,
  name: string,
): ((...args: readonly unknown[]) => unknown) | undefined {
  if (!isHostObject(object)) return undefined;
  const method = object[name];
  return typeof method === 'function' ? method.bind(object) : undefined;
}

/** A field of a foreign object as text; null for anything else. */
export function textOf(object: HostObject, name: string): string | null {
  const value = object[name];
  return typeof value === 'string' ? value : null;
}
