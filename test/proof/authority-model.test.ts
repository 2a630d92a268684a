import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Authority } from '../../src/authority/authority.ts';
import { createAuthority } from '../../src/authority/create-authority.ts';
import type { FileCapability } from '../../src/capability/file-capability.ts';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { native } from '../support/addon.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { type Act, perform, slots, stages } from '../support/random-trees.ts';
import { objectAt, type ReferenceRow, referenceAnswer } from '../support/reference-authority.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const numRuns = Number(process.env['WORKSPACE_AUTHORITY_RUNS'] ?? (long ? 300 : 40));
const seed = Number(process.env['WORKSPACE_AUTHORITY_SEED'] ?? Date.now() % 0x7fff_ffff);
/** A failure is made small, which takes many more runs. */
const limitMs = long ? 3_600_000 : 170_000;

let lab: AuthorityLab;
let runs = 0;
/** How often each kind of answer was given, to see that the trees are worth it. */
const answers = new Map<string, number>();

beforeAll(async () => {
  lab = await createLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

it(`R02, R03, R05, R30-R34: any selector in any tree gets the answer of the reference (seed ${seed}, ${numRuns} runs)`, {
  timeout: limitMs,
}, async () => {
  const property = fc.asyncProperty(stages, async (program) => {
    runs += 1;
    const place = join(lab.place, `run-${runs}`);
    await mkdir(place);
    const { registry, provers: prover } = lab;
    registry.rows.clear();
    const rows = new Map<string, ReferenceRow>();
    const authority = createAuthority({ native, registry, prover, protectedDirectories: [] });
    try {
      for (const stage of program) {
        for (const act of stage) await performOrRegister(place, rows, act);
        // The same authority all the way, so that what it remembers of the stages before is put to the test, too.
        await compare(authority, rows, place);
      }
    } finally {
      await authority.close();
      await rm(place, { recursive: true, force: true });
    }
  });
  await fc.assert(property, { numRuns, seed });
  const kinds = ['workspace root', 'workspace nested', 'workspace none', 'linked-worktree root'];
  for (const kind of [...kinds, 'refused', 'unsupported']) {
    expect([kind, answers.get(kind) ?? 0]).not.toEqual([kind, 0]);
  }
});

async function performOrRegister(place: string, rows: Map<string, ReferenceRow>, act: Act): Promise<void> {
  const { name, from, tree, repository } = act;
  if (name === 'unregister') unregister(rows, join(place, from));
  else if (name === 'unregister main') unregister(rows, join(place, repository));
  else if (name === 'register') await register(rows, join(place, from));
  else if (name === 'register tree') await register(rows, join(place, tree));
  else if (name === 'register below') await register(rows, join(place, from, 'sub'));
  else await perform(place, act);
}

function unregister(rows: Map<string, ReferenceRow>, path: string): void {
  rows.delete(path);
  lab.registry.rows.delete(path);
}

async function register(rows: Map<string, ReferenceRow>, path: string): Promise<void> {
  const object = await objectAt(path);
  if (object === null) return;
  rows.set(path, { path, object });
  await lab.register(path.slice(lab.place.length + 1));
}

function selectorsOf(place: string): readonly string[] {
  const paths = slots.map((slot) => join(place, slot));
  const below = paths.map((path) => `${path}/sub`);
  const others = ['a/', 'w/', 'a/.git', 'w/.git', 'a/../w', 'a/../b', '/x', 'a/.git/worktrees/w', ''];
  return [...paths, ...below, ...others.map((other) => `${place}/${other}`)];
}

async function compare(
  authority: Authority,
  rows: ReadonlyMap<string, ReferenceRow>,
  place: string,
): Promise<void> {
  for (const selector of selectorsOf(place)) {
    const expected = await referenceAnswer(rows, selector);
    const name = selector.slice(place.length);
    expect([name, await answerOf(authority, selector)]).toEqual([name, expected]);
    const kind = expected.split(' ').slice(0, 2).join(' ');
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
  }
}

async function answerOf(authority: Authority, selector: string): Promise<string> {
  try {
    await using capability = await authority.authorize(selector);
    await capability.assertCurrent().catch((cause: unknown) => {
      throw new Error('granted what is not so', { cause });
    });
    const { kind, gitBoundary } = capability;
    if (!isRepository(capability)) return `${kind} ${gitBoundary}`;
    const { gitDirectory, mainRoot } = capability.repository;
    const head = await gitDirectory.openFile('HEAD', null);
    const text = Buffer.from(await head.readAt(0, 1000)).toString();
    head.close();
    return `${kind} ${gitBoundary} ${mainRoot} ${text.trimEnd()}`;
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    if (error.code === 'workspace_not_authorized') return 'refused';
    const properties = ['repository_unsupported', 'repository_identity_changed'];
    return properties.includes(error.code) ? 'unsupported' : `${error.code} ${JSON.stringify(error.details)}`;
  }
}

function isRepository(capability: FileCapability): capability is RepositoryCapability {
  return capability.gitBoundary === 'root';
}
