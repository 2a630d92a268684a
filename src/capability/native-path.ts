import type { NativePath } from '../native/binding.ts';

/** The root itself, where an operation wants a directory. */
export const rootPath = '.';

/** Path of an entry in a directory; raw bytes as soon as one of both is undecodable. */
export function joinPath(directory: NativePath, name: NativePath): NativePath {
  if (directory === rootPath) return name;
  if (typeof directory === 'string' && typeof name === 'string') return `${directory}/${name}`;
  return Buffer.concat([Buffer.from(directory as string), Buffer.from('/'), Buffer.from(name as string)]);
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? rootPath : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** For people and for checks of names, never for opening: undecodable bytes become U+FFFD. */
export function displayPath(path: NativePath): string {
  return typeof path === 'string' ? path : Buffer.from(path).toString('utf8');
}
