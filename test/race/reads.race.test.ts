import { constants, mkdirSync, writeFileSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import type { Service } from '../../src/service.ts';
import { attackers, long, serve } from './contest.ts';
import { swaps } from './swaps.ts';
import { insideText, makeSandbox, outsideText, plant, type Sandbox } from './tree.ts';

/** Over all rows, a million in the long mode. */
const readsPerRow = long ? Math.ceil(1_000_000 / swaps.length) : 1_500;
/** At once, so that the pool always has a read to do. */
const readersPerRow = 8;

const attack = attackers();

describe('R10: no read under a capability leaves the root while names are swapped', () => {
  test.each(swaps)('swapping $title', async (swap) => {
    using sandbox = makeSandbox();
    plant(sandbox, swap.plant);
    plantAdministration(sandbox);
    await using service = await serve(sandbox);
    const attacker = await attack(sandbox.base, swap.attack);
    const seen = new Map<string, number>();
    const readAgainAndAgain = async () => {
      for (let count = 0; count < readsPerRow / readersPerRow; count++) {
        const outcome = await readOnce(service, sandbox.root, swap.path);
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: readersPerRow }, readAgainAndAgain));
    expect(await attacker.stop(), 'the attacker changed names all the time').toBeGreaterThan(
      readsPerRow / 100,
    );
    const unexpected = [...seen].filter(
      ([outcome]) => !(swap.allowed as readonly string[]).includes(outcome),
    );
    expect(unexpected).toEqual([]);
    expect(seen.get('inside') ?? 0, `some reads succeed: ${JSON.stringify([...seen])}`).toBeGreaterThan(0);
  });
});

test('the same attacker beats a read that checks the path first, so the races above do bite', async () => {
  using sandbox = makeSandbox();
  plant(sandbox, ['root/a/b/c/f', 'outside/c/f', 'root/a/evil => ../../outside']);
  const attacker = await attack(sandbox.base, ['exchange', 'root/a/b', 'root/a/evil']);
  let escapes = 0;
  for (let count = 0; count < 200_000 && escapes === 0; count++) {
    const text = await readUnguarded(sandbox.root, 'a/b/c/f').catch(() => null);
    if (text === outsideText) escapes++;
  }
  await attacker.stop();
  expect(escapes).toBeGreaterThan(0);
});

function plantAdministration(sandbox: Sandbox): void {
  for (const directory of ['root/nested/.git', 'root/a/bare', 'root/a/bare/objects', 'root/a/bare/refs']) {
    mkdirSync(join(sandbox.base, directory), { recursive: true });
  }
  for (const file of ['root/nested/.git/config', 'root/a/bare/HEAD', 'root/a/bare/f']) {
    writeFileSync(join(sandbox.base, file), 'administration: these bytes may never be seen\n');
  }
}

async function readOnce(service: Service, root: string, path: string): Promise<string> {
  try {
    await using workspace = await service.authority.authorize(root);
    const { bytes } = await service.files.read(workspace, parseBeneathPath(path));
    const text = Buffer.from(bytes).toString();
    return text === insideText ? 'inside' : `foreign bytes: ${text}`;
  } catch (error) {
    if (isAuthorityError(error)) return error.code;
    throw error;
  }
}

/** What a careful server without confined opens does: canonicalise, compare, open without following the last link. */
async function readUnguarded(root: string, path: string): Promise<string> {
  const canonical = await realpath(join(root, path));
  if (relative(root, canonical).startsWith('..')) throw new Error('outside');
  await using file = await open(canonical, constants.O_RDONLY | constants.O_NOFOLLOW);
  return file.readFile('utf8');
}
