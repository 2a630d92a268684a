import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { versionOf } from '../../src/files/content-version.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import type { MutationGate } from '../../src/mutation/mutation-gate.ts';
import { beneath, openWorkspace, outcomeOf, text } from '../support/files-workspace.ts';

const savers = 64;
const base = versionOf(text('base'));

describe('many at once', () => {
  it.each([
    ['the hash', { sha1: base.sha1 }, 'conflict'],
    ['the tag', { etag: base.etag }, 'precondition_failed'],
  ])(
    'R13: of 64 savers of one base named by %s exactly one wins, the others are told its version',
    async (_, named, code) => {
      const { files, capability, root } = await openWorkspace({ tree: ['f: base'] });
      const results = await Promise.all(
        Array.from({ length: savers }, async (_unused, index) => {
          try {
            return {
              index,
              committed: await files.replace(capability, beneath('f'), text(`saver ${index}`), named),
            };
          } catch (error) {
            if (!isAuthorityError(error)) throw error;
            return { index, refused: error };
          }
        }),
      );
      const winners = results.filter((result) => result.committed !== undefined);
      expect(winners.length).toBe(1);
      const standing = versionOf(text(`saver ${winners[0]?.index}`));
      expect(await readFile(join(root, 'f'), 'utf8')).toBe(`saver ${winners[0]?.index}`);
      const refused = results.flatMap(({ refused: error }) => error ?? []);
      expect(refused.length).toBe(savers - 1);
      for (const error of refused) {
        expect([error.code, error.details]).toEqual([code, { ...standing, kept: [] }]);
      }
      expect(await readdir(root)).toEqual(['f']);
    },
  );

  it('write-create-race: of 64 creators of one name exactly one wins', async () => {
    const { files, capability, root } = await openWorkspace();
    const create = (index: number) =>
      outcomeOf(files.create(capability, beneath('f'), text(`creator ${index}`)));
    const outcomes = await Promise.all(Array.from({ length: savers }, (_, index) => create(index)));
    expect(outcomes.filter((outcome) => outcome === 'already_exists').length).toBe(savers - 1);
    expect(await readFile(join(root, 'f'), 'utf8')).toBe(`creator ${outcomes.indexOf('ok')}`);
    expect(await readdir(root)).toEqual(['f']);
  });

  it('R13: a chain of savers, each on the version before, loses none', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: base'] });
    let version = base;
    for (let step = 0; step < 20; step += 1) {
      version = await files.replace(capability, beneath('f'), text(`step ${step}`), { sha1: version.sha1 });
    }
    expect(await readFile(join(root, 'f'), 'utf8')).toBe('step 19');
  });

  it('R13: different files do not wait for each other', async () => {
    const { files, capability, gate, root } = await openWorkspace({ tree: ['a: base', 'b: base'] });
    let release: () => void = () => undefined;
    const running = gate.run([`file:${root}/a`], () => new Promise<void>((resolve) => (release = resolve)));
    expect(await outcomeOf(files.replace(capability, beneath('b'), text('x'), { sha1: base.sha1 }))).toBe(
      'ok',
    );
    release();
    await running;
  });

  it('a directory that moves while files below it are saved loses nothing and leaves nothing', async () => {
    const { files, capability, tree } = await openWorkspace({ tree: ['d/f: base'] });
    const outcomes = new Set<string>();
    let place = 'd';
    let content = 'base';
    for (let round = 0; round < 20; round += 1) {
      const next = `round ${round}`;
      const from = place;
      const to = from === 'd' ? 'e' : 'd';
      const save = outcomeOf(
        files.replace(capability, beneath(`${from}/f`), text(next), { sha1: versionOf(text(content)).sha1 }),
      );
      const move = outcomeOf(files.rename(capability, beneath(from), beneath(to)));
      const [saved, moved] = await Promise.all([save, move]);
      outcomes.add(saved);
      if (moved === 'ok') place = to;
      if (saved === 'ok') content = next;
      expect(await tree()).toEqual([`${place}/`, `${place}/f: ${content}`]);
    }
    for (const outcome of outcomes) {
      expect(['ok', 'identity_changed', 'not_found', 'conflict']).toContain(outcome);
    }
  });

  it('waits end with the caller: an abort while waiting changes nothing', async () => {
    const { files, capability, gate, root } = await openWorkspace({ tree: ['f: base'] });
    let release: () => void = () => undefined;
    const running = gate.run([`file:${root}/f`], () => new Promise<void>((resolve) => (release = resolve)));
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [
      files.replace(capability, beneath('f'), text('x'), { sha1: base.sha1 }, { signal }),
      files.remove(capability, beneath('f'), { sha1: base.sha1 }, { signal }),
      files.rename(capability, beneath('f'), beneath('g'), { signal }),
    ].map(outcomeOf);
    await expect.poll(() => gate.depth(`file:${root}/f`)).toBe(waiting.length + 1);
    controller.abort();
    expect(await Promise.all(waiting)).toEqual(['aborted', 'aborted', 'aborted']);
    release();
    await running;
    expect(await readFile(join(root, 'f'), 'utf8')).toBe('base');
  });

  it('removals of files above the limit of content go one after the other, and can be given up', async () => {
    const gate = createMutationGate({ leases: null });
    const turns = new Map<string, number>();
    let active = 0;
    const observed: MutationGate = {
      run: (keys, task, options) =>
        gate.run(
          keys,
          async () => {
            const turn = (turns.get(String(keys)) ?? 0) + 1;
            turns.set(String(keys), turn);
            // The first turn only finds that the file is large.
            if (turn === 1) return task();
            active += 1;
            expect(active).toBe(1);
            return task().finally(() => {
              active -= 1;
            });
          },
          options,
        ),
      pending: () => gate.pending(),
      depth: (key) => gate.depth(key),
      close: () => gate.close(),
    };
    const names = Array.from({ length: 8 }, (_, index) => `f${index}`);
    const { files, capability, root } = await openWorkspace({
      tree: names.map((name) => `${name}: large`),
      files: { gate: observed, contentLimit: 4 },
    });
    const large = { sha1: versionOf(text('large')).sha1 };
    const leaving = new AbortController();
    const removals = names.map((name) =>
      outcomeOf(
        files.remove(capability, beneath(name), large, name === 'f7' ? { signal: leaving.signal } : {}),
      ),
    );
    leaving.abort();
    expect(await Promise.all(removals)).toEqual([...Array(7).fill('ok'), 'aborted']);
    expect(await readdir(root)).toEqual(['f7']);
    expect(turns.size).toBe(7);
    expect([...turns.values()].every((count) => count === 2)).toBe(true);
    expect(await outcomeOf(files.remove(capability, beneath('f7'), base))).toBe('conflict');
  });
});
