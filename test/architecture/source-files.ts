import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot: string = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** Relative to `src`, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly SourceImport[];
}

export interface SourceImport {
  readonly typesOnly: boolean;
  /** For a relative import, the file relative to `src`. */
  readonly file: string | null;
  /** For another one, the package or builtin. */
  readonly dependency: string | null;
}

/** A statement that names a module, static or dynamic; comments are taken out before. Groups: what is imported, from where. */
const importShapes = [
  /(?:^|[;\n])\s*(?:import|export)\b([^'"`;]*?)\bfrom\s*['"]([^'"]+)['"]/g,
  /(?:^|[;\n])\s*import()\s*['"]([^'"]+)['"]/g,
  /\bimport()\s*\(\s*['"]([^'"]+)['"]/g,
  /\brequire()(?:\.resolve)?\s*\(\s*['"]([^'"]+)['"]/g,
];

/** Every TypeScript file below `src`, in order of its path. */
export function readSources(): readonly SourceFile[] {
  return filesBelow('src', /\.ts$/).map((path) => {
    const file = path.slice('src/'.length);
    const text = readFileSync(join(projectRoot, path), 'utf8');
    return { path: file, text, imports: importsOf(file, text) };
  });
}

/** Paths relative to the project, with `/`. */
export function filesBelow(directory: string, name: RegExp): readonly string[] {
  return readdirSync(join(projectRoot, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => posix.join(entry.parentPath.slice(projectRoot.length), entry.name))
    .sort();
}

export function importsOf(file: string, text: string): readonly SourceImport[] {
  const code = withoutComments(text);
  const found = new Map<string, boolean>();
  for (const match of importShapes.flatMap((shape) => [...code.matchAll(shape)])) {
    const specifier = match[2] ?? '';
    found.set(specifier, (found.get(specifier) ?? true) && isTypeOnly(match[1] ?? ''));
  }
  return [...found].map(([specifier, typesOnly]) => {
    if (specifier.startsWith('.')) {
      return { typesOnly, file: posix.join(dirname(file), specifier), dependency: null };
    }
    const parts = specifier.split('/');
    const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] as string);
    return { typesOnly, file: null, dependency: specifier.startsWith('node:') ? specifier : name };
  });
}

/** `type { A, B }` or `{ type A, type B }`: nothing of it is left when the program runs. */
function isTypeOnly(clause: string): boolean {
  const text = clause.trim();
  if (/^type\b/.test(text)) return true;
  const names = /^\{([\s\S]*)\}$/
    .exec(text)?.[1]
    ?.split(',')
    .map((name) => name.trim()) ?? [''];
  return names.filter((name) => name !== '').length > 0 && names.every((name) => /^(type\s|$)/.test(name));
}

/** Room of a file: its first directory below `src`, or its name where it lies in `src` itself. */
export function roomOf(path: string): string {
  const slash = path.indexOf('/');
  return slash < 0 ? path.replace(/\.ts$/, '') : path.slice(0, slash);
}

function withoutComments(text: string): string {
  // Strings are matched too, so that `//` inside one begins no comment.
  const tokens = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  return text.replace(tokens, (token) => (token.startsWith('/') ? ' ' : token));
}
