import { lstatSync, mkdirSync, readlinkSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { createDirectoryLookup } from '../../src/sessions/directory-lookup.ts';
import { followPlace } from '../../src/sessions/followed-place.ts';
import { directoryAt, occupantsOf, session } from '../support/guarded-sessions.ts';
import { keptDirectory } from '../support/state.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const numRuns = Number(process.env['WORKSPACE_AUTHORITY_RUNS'] ?? (long ? 50_000 : 400));
const seed = Number(process.env['WORKSPACE_AUTHORITY_SEED'] ?? Date.now() % 0x7fff_ffff);

const names = ['a', 'b', 'c'];
const path = fc
  .array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));
const target = fc.oneof(
  path,
  path.map((text) => `../${text}`),
  path.map((text) => `/${text}`),
);
/** A directory, or a link to somewhere; beginning with `/`: from the top of the tree. */
const entry = fc.record({ at: path, to: fc.option(target) });

let sandbox: string;
beforeAll(async () => {
  sandbox = await keptDirectory();
});

/** What is in the way of an entry stays. */
function plant(root: string, entries: readonly { readonly at: string; readonly to: string | null }[]): void {
  for (const { at, to } of entries) {
    const place = join(root, at);
    try {
      if (to === null) mkdirSync(place, { recursive: true });
      else symlinkSync(to.startsWith('/') ? join(root, to) : to, place);
    } catch {
      // Taken, or below something that is no directory.
    }
  }
}

/** Where a path without `..` leads, by realpath(3) as far as that goes. Null: nobody can say. */
function reference(place: string, depth = 0): string | null {
  if (depth > 60) return null;
  try {
    return realpathSync(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return null;
  }
  const above = reference(dirname(place), depth + 1);
  if (above === null) return null;
  const here = join(above, basename(place));
  try {
    if (lstatSync(here).isSymbolicLink()) return reference(resolve(above, readlinkSync(here)), depth + 1);
  } catch {
    // Nothing stands there.
  }
  return here;
}

function isDirectory(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}

it(`R28: a place leads where realpath says, also when it, or what a link leads to, is gone (seed ${seed})`, async () => {
  let vanished = 0;
  let linked = 0;
  let inside = 0;
  const property = fc.asyncProperty(
    fc.array(entry, { maxLength: 12 }),
    path,
    path,
    async (entries, asked, kept) => {
      const root = join(sandbox, 'tree');
      rmSync(root, { recursive: true, force: true });
      mkdirSync(root);
      plant(root, entries);
      const place = join(root, asked);
      const expected = reference(place);
      const followed = await followPlace(place, createDirectoryLookup());
      // Of a loop, and of a link that leads up from what is gone, one may know more than the other.
      if (expected === null || !('canonical' in followed)) return;
      expect(followed.canonical).toBe(expected);
      if (expected !== place) linked += 1;
      try {
        realpathSync(place);
      } catch {
        vanished += 1;
      }
      const directory = join(root, kept);
      plant(root, [{ at: kept, to: null }]);
      if (!isDirectory(directory)) return;
      const canonical = realpathSync(directory);
      const occupied = (await occupantsOf([session('one', place)], directoryAt(canonical))).length > 0;
      if (occupied) inside += 1;
      const now = reference(place);
      const isIn = (text: string): boolean => text === canonical || text.startsWith(`${canonical}/`);
      if (now !== null) expect(occupied, `${place} in ${canonical}`).toBe(isIn(place) || isIn(now));
    },
  );
  await fc.assert(property, { numRuns, seed });
  // The test bites.
  expect(Math.min(vanished, linked, inside)).toBeGreaterThan(numRuns / 50);
});
