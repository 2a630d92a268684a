import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import type { ProverMode } from '../../src/proof/provers.ts';
import { refusalOf } from '../support/answers.ts';
import { type AuthorityLab, createLab, identityOf, makePlace } from '../support/authority-lab.ts';
import { buildZoo, type ZooCase } from '../support/repository-zoo.ts';
import { answerFor, zooAnswers, zooGitDirectories, zooMainCheckouts } from '../support/zoo-answers.ts';

type Registration = 'registered' | 'unregistered';

const modes: readonly ProverMode[] = ['nodegit', 'git', 'both', 'auto'];
const registrations: readonly Registration[] = ['registered', 'unregistered'];

interface Outcome {
  readonly answer: string;
  /** Null when refused. */
  readonly root: string | null;
}

let place: string;
let cases: readonly ZooCase[];

beforeAll(async () => {
  place = await makePlace();
  cases = await buildZoo(place);
}, 120_000);

afterAll(async () => {
  await rm(place, { recursive: true, force: true });
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** What would mislead Git or lift the owner check of Git and libgit2 must change nothing here. */
function mislead(): void {
  vi.stubEnv('SUDO_UID', '65534');
  vi.stubEnv('GIT_DIR', `${place}/zoo/plain/.git`);
  vi.stubEnv('GIT_WORK_TREE', `${place}/zoo/plain`);
  vi.stubEnv('GIT_CONFIG_COUNT', '1');
  vi.stubEnv('GIT_CONFIG_KEY_0', 'safe.directory');
  vi.stubEnv('GIT_CONFIG_VALUE_0', '*');
}

async function openZoo(mode: ProverMode, registration: Registration): Promise<AuthorityLab> {
  const lab = await createLab({ mode, place });
  const mains = zooMainCheckouts.map((name) => `${place}/zoo/${name}`);
  const rows = registration === 'registered' ? cases.map(({ path }) => path.toString()) : mains;
  for (const path of rows) await registerPinned(lab, path);
  return lab;
}

/** With every identity that there is; where no directory is, with one that none has. */
async function registerPinned(lab: AuthorityLab, path: string): Promise<void> {
  const nothing = { inode: '0', fileSystemId: '0', handle: null, birthTimeNs: null };
  const separate = zooGitDirectories[path.slice(`${place}/zoo/`.length)];
  lab.registry.register(path, {
    identity: (await identityOf(path)) ?? nothing,
    gitDirIdentity: separate === undefined ? null : await identityOf(`${place}/zoo/${separate}`),
  });
}

/** With one word for all ways in which a prover gives no answer: whether it hung now or before depends on the layouts asked before. */
async function ask(lab: AuthorityLab, selector: string): Promise<Outcome> {
  try {
    await using capability = await lab.authority.authorize(selector);
    return { answer: `${capability.kind} ${capability.gitBoundary}`, root: capability.root };
  } catch (error) {
    return { answer: refusalOf(error).replace(/^(prover_unavailable): .*/, '$1'), root: null };
  }
}

/** The answer for a layout; where it is one of the main checkouts, without its own row. */
async function probe(lab: AuthorityLab, { path }: ZooCase, registration: Registration): Promise<Outcome> {
  const selector = path.toString();
  const row = lab.registry.rows.get(selector);
  if (registration === 'registered' || row === undefined) return ask(lab, selector);
  lab.registry.rows.delete(selector);
  try {
    return await ask(lab, selector);
  } finally {
    lab.registry.rows.set(selector, row);
  }
}

/** Those that hang wait side by side; a prover is busy with them long enough. */
async function probeAll(
  lab: AuthorityLab,
  registration: Registration,
): Promise<ReadonlyMap<ZooCase, Outcome>> {
  const hanging = cases.filter(({ label }) => label.startsWith('HANG'));
  const outcomes = new Map<ZooCase, Outcome>();
  const look = async (layout: ZooCase) => outcomes.set(layout, await probe(lab, layout, registration));
  await Promise.all(hanging.map(look));
  for (const layout of cases) if (!outcomes.has(layout)) await look(layout);
  return outcomes;
}

/** What the verdict of the zoo's author demands beyond the table; null where it is met. */
function complaint({ label, path, verdict }: ZooCase, { answer, root }: Outcome, way: Registration) {
  const isRoot = answer.endsWith(' root');
  const kind = way === 'registered' ? 'workspace' : 'linked-worktree';
  // Text that no selector can be.
  const selectable = !path.includes('\n');
  // A documented policy: every include is refused, also one that leads nowhere.
  const policy = label === 'include-missing';
  // A spelling of a registered root, which is then what is granted.
  if (isRoot && root !== path.toString()) return root === `${place}/zoo/plain` ? null : `granted ${root}`;
  if (verdict === 'REJECT' && isRoot) return 'granted';
  if (verdict === 'LINKED' && selectable && answer !== `${kind} root`) return 'not granted';
  if (verdict === 'MAIN' && way === 'registered' && !policy && answer !== 'workspace root')
    return 'not granted';
  return answer === 'linked-worktree root' && !verdict.includes('LINKED') ? 'granted as linked' : null;
}

describe('the zoo of repositories', () => {
  it('nodegit loads here, so that nothing below is skipped', () => {
    expect(nodegitState()).toMatchObject({ state: 'ready' });
  });

  it('has an expected answer for every layout', () => {
    const labels = cases.map(({ label }) => label);
    const onlyAsRoot =
      process.geteuid?.() === 0 ? [] : Object.keys(zooAnswers).filter((label) => label.startsWith('foreign'));
    expect([...labels, ...onlyAsRoot].sort()).toEqual(Object.keys(zooAnswers).sort());
  });
});

describe.each(modes)('the zoo through prover %s', (mode) => {
  it.each(registrations)(
    'R02, R03, R04, R30, R31, R32, R33, R34: each layout, %s, gets its one answer',
    async (way) => {
      mislead();
      await using lab = await openZoo(mode, way);
      const outcomes = await probeAll(lab, way);
      const seen: Record<string, string> = {};
      const right: Record<string, string> = {};
      const complaints: [string, string][] = [];
      const lenient = mode === 'git' || mode === 'both';
      for (const [layout, outcome] of outcomes) {
        seen[layout.label] = outcome.answer;
        right[layout.label] = answerFor(zooAnswers[layout.label]?.[way] ?? 'unknown', mode);
        const wrong = complaint(layout, outcome, way);
        // A prover that hangs is no answer, whatever the author wishes.
        if (wrong !== null && !(lenient && outcome.answer === 'prover_unavailable'))
          complaints.push([layout.label, wrong]);
      }
      expect(seen).toEqual(right);
      expect(complaints).toEqual([]);
    },
  );
});

describe('the zoo explained', () => {
  it.each(registrations)(
    'R04: %s: exactly one fact, the last, fails for each refused layout',
    async (way) => {
      await using lab = await openZoo('nodegit', way);
      for (const { label, path } of cases) {
        const explanation = await lab.authority.explain(path.toString());
        const failing = explanation.facts.filter(({ holds }) => !holds);
        const refused = explanation.refusal !== null;
        expect([label, explanation.authorized, failing.length]).toEqual([label, !refused, refused ? 1 : 0]);
        expect([label, explanation.facts.at(-1)?.holds]).toEqual([label, !refused]);
      }
    },
  );
});

describe('a row for a separate Git dir', () => {
  it.each(Object.keys(zooGitDirectories))('R06: %s: is refused without a pin', async (name) => {
    await using lab = await createLab({ mode: 'nodegit', place });
    const path = `${place}/zoo/${name}`;
    await registerPinned(lab, path);
    expect((await ask(lab, path)).answer).toBe('workspace root');
    lab.registry.register(path, { ...lab.registry.rows.get(path), gitDirIdentity: null });
    expect((await ask(lab, path)).answer).toBe('repository_identity_changed');
  });
});
