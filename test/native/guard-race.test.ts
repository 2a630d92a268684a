import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testAddonPath } from '../support/test-binding.ts';
import { Room } from './room.ts';

const rounds = process.env['WORKSPACE_AUTHORITY_LONG'] === '1' ? 200_000 : 8_000;

/** Ways to have a secret under the path for a moment, but only while its directory is closed; see the program. */
const attacks = ['exchange-parent', 'exchange-ancestor', 'become-closed', 'rename-in-and-out'] as const;

describe('the path guard while directories change all the time', () => {
  it.for(attacks)('R12 R14: never gives out what lies in a closed directory: %s', async (attack) => {
    const room = await Room.open();
    room.write('a/b/f', 'open');
    room.writeGitShape('git');
    room.write('git/f', 'secret');
    room.write('git/b/f', 'secret');
    await startAttacker(room, attack);
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      const outcome = (await room.readOrCode('a/b/f')).trim();
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
    const allowed = ['open', 'WA_CLOSED_DIRECTORY', 'EAGAIN', 'ENOENT', 'ENOTDIR'];
    expect([...seen.keys()].filter((outcome) => !allowed.includes(outcome))).toEqual([]);
    // Both states were met, so the attacker was at work.
    expect(seen.get('open') ?? 0).toBeGreaterThan(0);
    expect(seen.get('WA_CLOSED_DIRECTORY') ?? 0).toBeGreaterThan(0);
  });

  it('R12: a reader without the guard does meet the secret, so the attacker bites', async () => {
    const room = await Room.open({ rules: null });
    room.write('a/b/f', 'open');
    room.writeGitShape('git');
    room.write('git/f', 'secret');
    await startAttacker(room, 'exchange-parent');
    const seen = new Set<string>();
    for (let round = 0; round < rounds && !seen.has('secret'); round += 1)
      seen.add(await room.readOrCode('a/b/f'));
    expect(seen.has('secret')).toBe(true);
  });
});

async function startAttacker(room: Room, attack: string): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'guard-attacker.mjs');
  const child = spawn(process.execPath, [program, testAddonPath, room.path, attack], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}
