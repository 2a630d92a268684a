import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  builtinRules,
  harmlessBuiltins,
  mintingFile,
  mintingRooms,
  outsideRules,
  packageRules,
  roomRules,
} from './rooms.ts';
import { importsOf, projectRoot, readSources, roomOf } from './source-files.ts';

const sources = readSources();
const paths = new Set(sources.map(({ path }) => path));

/** One line for every import that a rule forbids, so that a failure reads as a list of what to mend. */
function offences(
  isForbidden: (path: string, imported: string, typesOnly: boolean) => boolean,
  kind: 'file' | 'dependency',
) {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap((found) => {
      const imported = found[kind];
      if (imported === null || !isForbidden(path, imported, found.typesOnly)) return [];
      return `${path} imports ${imported}`;
    }),
  );
}

describe('the reader of imports', () => {
  it('sees static, dynamic, type and side-effect imports and re-exports, and none in comments or strings', () => {
    const text = `
      /* import a from './comment.ts' */
      // import './line.ts';
      import type { B } from '../errors/index.ts';
      import { type F, type G } from '../errors/codes.ts';
      import {
        c,
      } from "express"; import './effect.ts';
      export * from '@scope/package/deep';
      const url = 'https://example.test/'; const d = await import('node:fs/promises');
      const e = require('zod');`;
    const found = importsOf('files/x.ts', text);
    expect(
      found.map(({ file, dependency, typesOnly }) => `${file ?? dependency}${typesOnly ? ' (types)' : ''}`),
    ).toEqual([
      'errors/index.ts (types)',
      'errors/codes.ts (types)',
      'express',
      '@scope/package',
      'files/effect.ts',
      'node:fs/promises',
      'zod',
    ]);
  });
});

describe('the import table of the design', () => {
  it('names every room', () => {
    expect(
      [...new Set(sources.map(({ path }) => roomOf(path)))].filter((room) => !(room in roomRules)),
    ).toEqual([]);
  });

  it('is itself free of cycles: arrows only go down', () => {
    const rooms = Object.keys(roomRules);
    for (const [room, rule] of Object.entries(roomRules)) {
      const above = rooms.slice(rooms.indexOf(room) + 1);
      const upward = [...rule.rooms, ...(rule.files ?? []).map(roomOf)].filter((other) =>
        above.includes(other),
      );
      expect(room === 'cli' ? upward.filter((other) => other !== 'index') : upward, room).toEqual([]);
    }
  });

  it('holds for every file', () => {
    const forbidden = offences((path, imported, typesOnly) => {
      const rule = roomRules[roomOf(path)];
      const room = roomOf(imported);
      if (outsideRules[imported]?.includes(path)) return false;
      if (room === roomOf(path) || rule?.rooms.includes(room) || rule?.files?.includes(imported))
        return false;
      return !(typesOnly && rule?.types?.includes(imported));
    }, 'file');
    expect(forbidden).toEqual([]);
  });

  it('leads only to files that exist', () => {
    const isThere = (file: string) => paths.has(file) || existsSync(join(projectRoot, 'src', file));
    expect(offences((_, imported) => !isThere(imported), 'file')).toEqual([]);
  });

  it('has no cycle between files when the program runs', () => {
    const graph = new Map(
      sources.map(({ path, imports }) => [
        path,
        imports.flatMap(({ file, typesOnly }) => (typesOnly ? [] : (file ?? []))),
      ]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      if (trail.includes(path) || done.has(path)) return;
      for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) walk(path, []);
    expect(cycles).toEqual([]);
  });
});

describe('dangerous tools', () => {
  it('packages are used only in their rooms', () => {
    const forbidden = offences((path, dependency) => {
      return !dependency.startsWith('node:') && !packageRules[dependency]?.includes(roomOf(path));
    }, 'dependency');
    expect(forbidden).toEqual([]);
  });

  it('builtins that reach outside the process are used only in the files that are named', () => {
    const forbidden = offences((path, dependency, typesOnly) => {
      if (typesOnly || !dependency.startsWith('node:') || harmlessBuiltins.has(dependency)) return false;
      const places = builtinRules[dependency] ?? [];
      return !places.includes(path) && !places.includes(`${roomOf(path)}/`);
    }, 'dependency');
    expect(forbidden).toEqual([]);
  });

  it('every permission is used: the lists name no file that has no need', () => {
    const used = new Set(
      sources.flatMap(({ path, imports }) =>
        imports.flatMap(({ dependency }) => [`${dependency} ${path}`, `${dependency} ${roomOf(path)}/`]),
      ),
    );
    const unused = Object.entries({ ...builtinRules, ...packageRules }).flatMap(([dependency, places]) => {
      const isBuiltin = dependency.startsWith('node:');
      return places
        .map((place) => `${dependency} ${isBuiltin ? place : `${place}/`}`)
        .filter((use) => !used.has(use));
    });
    expect(unused).toEqual([]);
  });

  it('R02: only proof and authority can make capabilities', () => {
    const forbidden = offences((path, imported) => {
      return imported === mintingFile && !mintingRooms.includes(roomOf(path));
    }, 'file');
    expect(forbidden).toEqual([]);
  });
});
