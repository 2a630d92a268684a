import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { WorkspaceRow } from '../../src/registry/workspace-registry.ts';
import { createLab } from '../support/authority-lab.ts';
import { type Deferred, deferred } from '../support/deferred.ts';
import { MemoryRegistry } from '../support/memory-registry.ts';

/** Milliseconds between two sweeps. */
const period = 30_000;

/** A registry that answers a sweep only when it is let go. */
class HangingRegistry extends MemoryRegistry {
  hold: Deferred<void> | null = null;
  waiting = 0;

  override find(path: string): WorkspaceRow | null | Promise<WorkspaceRow | null> {
    const { hold } = this;
    if (hold === null) return super.find(path);
    this.waiting += 1;
    return hold.promise
      .then(() => super.find(path))
      .finally(() => {
        this.waiting -= 1;
      });
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('R05: the search for rows that are gone waits for a registry that hangs, and goes on after it', async () => {
  const registry = new HangingRegistry();
  await using lab = await createLab({ mode: 'git', registry });
  const roots = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const path = join(lab.place, name);
      await mkdir(path);
      registry.register(path);
      await using _kept = await lab.authority.authorize(path);
      return path;
    }),
  );
  const hold = deferred<void>();
  registry.hold = hold;
  vi.advanceTimersByTime(5 * period);
  await vi.waitFor(() => expect(registry.waiting).toBeGreaterThan(0));
  expect(registry.waiting).toBe(1);
  hold.resolve();
  registry.hold = null;
  await vi.waitFor(() => expect(registry.waiting).toBe(0));
  const before = registry.asked;
  // A sweep asks for each root that is kept.
  await vi.waitFor(() => {
    vi.advanceTimersByTime(period);
    expect(registry.asked).toBeGreaterThanOrEqual(before + roots.length);
  });
});

it('R04: a sweep that failed is followed by another', async () => {
  const registry = new MemoryRegistry();
  await using lab = await createLab({ mode: 'git', registry });
  await mkdir(join(lab.place, 'one'));
  registry.register(join(lab.place, 'one'));
  {
    await using _kept = await lab.authority.authorize(join(lab.place, 'one'));
  }
  registry.failure = new Error('disk');
  for (const round of [1, 2, 3]) {
    const before = registry.asked;
    await vi.waitFor(() => {
      vi.advanceTimersByTime(period);
      expect(registry.asked, `round ${round}`).toBeGreaterThan(before);
    });
  }
  registry.failure = null;
});
