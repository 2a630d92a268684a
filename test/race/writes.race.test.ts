import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import type { Service } from '../../src/service.ts';
import { attackers, long, serve } from './contest.ts';
import { swaps } from './swaps.ts';
import { insideText, makeSandbox, outsideText, plant, type Sandbox } from './tree.ts';

/** Over all rows and the two tests below, more than 20,000 in the long mode. */
const writesPerRow = long ? 2_000 : 60;

/** Refusals that a swapped name may cause; anything else is a fault. */
const allowedRefusals = new Set([
  'conflict',
  'path_outside_workspace',
  'symlink_not_writable',
  'administrative_path',
  'workspace_not_authorized',
  'identity_changed',
  'not_found',
  'not_regular_file',
  'busy',
]);

const attack = attackers();

describe('R10, R11: no write under a capability lands outside the root while names are swapped', () => {
  test.each(swaps)('swapping $title', async (swap) => {
    using sandbox = makeSandbox();
    plant(sandbox, swap.plant);
    plant(sandbox, ['outside/witness']);
    await using service = await serve(sandbox);
    const attacker = await attack(sandbox.base, swap.attack);
    const outcomes = new Map<string, number>();
    for (let count = 0; count < writesPerRow; count++) {
      const { outcome } = await writeOnce(service, sandbox.root, swap.path, `${insideText}${count}\n`);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    await attacker.stop();
    const unexpected = [...outcomes.keys()].filter(
      (code) => code !== 'committed' && !allowedRefusals.has(code),
    );
    expect(unexpected).toEqual([]);
    expect(outsideFiles(sandbox), 'outside holds only what was planted, unchanged').toEqual([]);
  });
});

test('R14: every version that another process renames over the file survives or was replaced by that process itself', async () => {
  using sandbox = makeSandbox();
  plant(sandbox, ['root/f']);
  await using service = await serve(sandbox);
  const attacker = await attack(sandbox.root, ['flood', 'f', 'foreign']);
  const rounds = long ? 20_000 : 300;
  /** What each of our committed versions was based on. */
  const bases = new Map<string, string>();
  for (let count = 0; count < rounds; count++) {
    const text = `ours ${count}\n`;
    const { outcome, base } = await writeOnce(service, sandbox.root, 'f', text);
    if (outcome === 'committed') bases.set(text, base);
    else expect(allowedRefusals).toContain(outcome);
  }
  const foreignVersions = await attacker.stop();
  expect(foreignVersions).toBeGreaterThan(0);
  const files = readdirSync(sandbox.root);
  const kept = files.filter((name) => name.includes('.kept'));
  const survivors = ['f', ...kept].map((name) => readFileSync(join(sandbox.root, name), 'utf8'));
  for (let base = bases.get(survivors[0] ?? ''); base !== undefined; base = bases.get(base))
    survivors.push(base);
  expect(
    survivors,
    'the last foreign version stands, was kept, or was read before it was replaced',
  ).toContain(`foreign ${foreignVersions}\n`);
  expect(files.filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

async function writeOnce(
  service: Service,
  root: string,
  path: string,
  text: string,
): Promise<{ outcome: string; base: string }> {
  let base = '';
  try {
    await using workspace = await service.authority.authorize(root);
    const target = parseBeneathPath(path);
    const { bytes, etag } = await service.files.read(workspace, target);
    base = Buffer.from(bytes).toString();
    await service.files.replace(workspace, target, Buffer.from(text), { etag });
    return { outcome: 'committed', base };
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    return { outcome: error.code === 'precondition_failed' ? 'conflict' : error.code, base };
  }
}

/** Files below the outside directory that are not as planted. A row that swaps the root itself swaps `outside` too: both are looked at. */
function outsideFiles(sandbox: Sandbox): string[] {
  const outside = existsSync(join(sandbox.base, 'outside', 'witness')) ? sandbox.outside : sandbox.root;
  return readdirSync(outside, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !isMovedIn(path) && readFileSync(path, 'utf8') !== outsideText);
}

/** The row that moves a directory out of the root and back may leave it outside, with the content it had inside. */
function isMovedIn(path: string): boolean {
  return path.endsWith('outside/b/c/f');
}
