import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createService } from '../../src/service.ts';
import { makePlace } from '../support/authority-lab.ts';
import { createWorktreeLab } from '../support/worktree-lab.ts';

/** What this process holds open at or below a directory. */
function heldBelow(place: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path === place || path.startsWith(`${place}/`) ? [path] : [];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}

describe('what is kept open of a row', () => {
  it('R05, R32: is closed with the row of a main checkout, its worktrees too', async () => {
    await using room = await createWorktreeLab({ mode: 'git' });
    const { authority, registry } = room.lab;
    await room.grant();
    await room.grant(room.main);
    await authority.closeUnregistered();
    expect(heldBelow(room.lab.place)).not.toEqual([]);
    registry.rows.delete(room.main);
    await authority.closeUnregistered();
    expect(heldBelow(room.lab.place)).toEqual([]);
  });

  it('R06: stays with a capability in use until it is disposed', async () => {
    await using room = await createWorktreeLab({ mode: 'git' });
    const { authority, registry } = room.lab;
    const capability = await authority.authorize(room.tree);
    registry.rows.delete(room.main);
    await authority.closeUnregistered();
    expect(heldBelow(room.lab.place)).not.toEqual([]);
    await capability[Symbol.asyncDispose]();
    expect(heldBelow(room.lab.place)).toEqual([]);
  });

  it('R04: stays while the registry cannot be read, which says nothing of a row', async () => {
    await using room = await createWorktreeLab({ mode: 'git' });
    const { authority, registry } = room.lab;
    await room.grant();
    registry.failure = new Error('disk');
    await expect(authority.closeUnregistered()).rejects.toMatchObject({ code: 'registry_unavailable' });
    expect(heldBelow(room.lab.place)).not.toEqual([]);
    registry.failure = null;
  });

  it('R05: is closed when a workspace is removed', async () => {
    const place = await makePlace();
    await using service = await createService({ stateDirectory: join(place, 'state'), prover: 'git' });
    const root = join(place, 'root');
    await mkdir(root);
    await service.workspaces?.add(root);
    const capability = await service.authority.authorize(root);
    await capability[Symbol.asyncDispose]();
    expect(heldBelow(root)).not.toEqual([]);
    await service.workspaces?.remove(root);
    expect(heldBelow(root)).toEqual([]);
    await rm(place, { recursive: true, force: true });
  });
});
