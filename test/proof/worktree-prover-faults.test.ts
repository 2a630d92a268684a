import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import { CircuitBreaker } from '../../src/proof/circuit-breaker.ts';
import { NodegitPool } from '../../src/proof/nodegit-pool.ts';
import {
  type NodegitProcess,
  type NodegitProcessEvents,
  startNodegitProcess,
} from '../../src/proof/nodegit-process.ts';
import { createNodegitProver } from '../../src/proof/nodegit-prover.ts';
import type { ProverMode } from '../../src/proof/provers.ts';
import { deathGuard } from '../support/addon.ts';
import { currencyOf } from '../support/answers.ts';
import { createLab } from '../support/authority-lab.ts';
import { git } from '../support/git.ts';
import { createWorktreeLab, linkedRoot, type WorktreeLab } from '../support/worktree-lab.ts';

const disagrees = 'repository_unsupported: prover-disagrees';

/** What is done to a child when it is asked about a worktree, or to its answer; the main checkout is always answered for. */
interface Fault {
  /** Instead of sending the question. */
  readonly onQuestion?: (child: NodegitProcess) => void;
  /** The answer as it arrives. */
  readonly onAnswer?: (message: Answer) => unknown;
}

interface Answer {
  readonly id: number;
  readonly seen?: Readonly<Record<string, unknown>> & { readonly row: Readonly<Record<string, unknown>> };
}

let fault: Fault | null = null;
let pool: NodegitPool;
let room: WorktreeLab;

beforeAll(() => {
  const state = nodegitState();
  if (state.state !== 'ready') throw new Error(`nodegit is ${state.state}`);
  const nodegit = state.path;
  pool = new NodegitPool({
    start: (events) => startFaulty(nodegit, events),
    breaker: new CircuitBreaker({ limit: 1000, windowMs: 1, openMs: 1 }),
  });
});

afterAll(async () => {
  await pool.close();
});

beforeEach(async () => {
  fault = null;
  room = await createWorktreeLab({ prover: createNodegitProver(pool) });
});

afterEach(async () => {
  await room[Symbol.asyncDispose]();
});

function startFaulty(nodegit: string, events: NodegitProcessEvents): NodegitProcess {
  const worktreeQuestions = new Set<number>();
  const child = startNodegitProcess(
    { deathGuard, nodegit },
    {
      onEnd: events.onEnd,
      onMessage: (message) => {
        const { id } = message as Answer;
        const faulty = worktreeQuestions.has(id) && fault?.onAnswer !== undefined;
        events.onMessage(faulty ? fault?.onAnswer?.(message as Answer) : message);
      },
    },
  );
  return {
    ...child,
    send(message) {
      const { id, row } = message as { id: number; row: unknown };
      if (row !== null) worktreeQuestions.add(id);
      if (row !== null && fault?.onQuestion !== undefined) fault.onQuestion(child);
      else child.send(message);
    },
  };
}

/** The answer with another row, or with other fields of it. */
function withRow(row: unknown): Fault {
  return { onAnswer: (message) => ({ ...message, seen: { ...message.seen, row } }) };
}

function withRowFields(fields: object): Fault {
  return {
    onAnswer: (message) => ({
      ...message,
      seen: { ...message.seen, row: { ...message.seen?.row, ...fields } },
    }),
  };
}

function withFields(fields: object): Fault {
  return { onAnswer: (message) => ({ ...message, seen: { ...message.seen, ...fields } }) };
}

const silences: Readonly<Record<string, readonly [Fault, answer: string]>> = {
  'is killed when it is asked': [{ onQuestion: (child) => child.kill() }, 'child-died'],
  'does not answer': [{ onQuestion: () => {} }, 'deadline'],
  'answers with nothing': [{ onAnswer: () => null }, 'child-died'],
  'answers with text': [{ onAnswer: () => 'yes' }, 'child-died'],
  'answers without the row': [withRow(undefined), 'child-died'],
  'answers with a row that is text': [withRow('/tree'), 'child-died'],
  'answers with a row that is true': [withRow(true), 'child-died'],
  'answers with a list of rows': [withRow([{ path: '/tree', valid: true }]), 'child-died'],
  'answers with a path in bytes': [withRowFields({ path: [47, 116] }), 'child-died'],
  'answers valid with a number': [withRowFields({ valid: 1 }), 'child-died'],
  'answers valid with nothing': [withRowFields({ valid: null }), 'child-died'],
  'answers without the list of the row': [withRowFields({ commonDirectory: undefined }), 'child-died'],
  'answers to a question that nobody asked': [
    { onAnswer: (message) => ({ ...message, id: 4711 }) },
    'deadline',
  ],
};

const denials: Readonly<Record<string, Fault>> = {
  'that the row is not valid': withRowFields({ valid: false }),
  'another path for the row': withRowFields({ path: '/elsewhere' }),
  'the path of the main checkout for the row': { onAnswer: ofMain },
  'a path that begins like that of the root': {
    onAnswer: (message) => changePath(message, (path) => `${path}2`),
  },
  'a path below the root': { onAnswer: (message) => changePath(message, (path) => `${path}/sub`) },
  'a relative path that leads elsewhere': withRowFields({ path: '../tree' }),
  'that it has no such row': withRow(null),
  'that the row is in no list': withRowFields({ commonDirectory: null }),
  'that the row is in the list of another common dir': {
    onAnswer: (message) => changeList(message, 'path', '/m/.git/'),
  },
  'that the row is in a list that was exchanged': {
    onAnswer: (message) => changeList(message, 'inode', '1'),
  },
  'an error': { onAnswer: ({ id }) => ({ id, refused: -3 }) },
  'that it is no worktree': withFields({ worktree: 0 }),
  'that it is bare': withFields({ bare: 1 }),
  'that it has no work tree': withFields({ workTree: null }),
  'that its Git dir is the common dir': {
    onAnswer: (message) => ({
      ...message,
      seen: { ...message.seen, gitDirectory: message.seen?.['commonDirectory'] },
    }),
  },
  'that its common dir is its Git dir': {
    onAnswer: (message) => ({
      ...message,
      seen: { ...message.seen, commonDirectory: message.seen?.['gitDirectory'] },
    }),
  },
};

function changePath(message: Answer, change: (path: string) => string): unknown {
  const { seen } = message;
  return { ...message, seen: { ...seen, row: { ...seen?.row, path: change(String(seen?.row['path'])) } } };
}

function changeList(message: Answer, key: string, value: string): unknown {
  const { seen } = message;
  const commonDirectory = { ...(seen?.row['commonDirectory'] as object), [key]: value };
  return { ...message, seen: { ...seen, row: { ...seen?.row, commonDirectory } } };
}

function ofMain(message: Answer): unknown {
  return changePath(message, (path) => path.replace(/tree$/, 'main'));
}

describe('a nodegit child that, asked about a worktree,', () => {
  it.each(Object.entries(silences))('R04: %s: is no answer, and never a yes', async (_, [what, reason]) => {
    fault = what;
    expect(await room.grant()).toBe(`prover_unavailable: ${reason}`);
    // The main checkout is not held responsible.
    expect(await room.grant(room.main)).toBe('workspace root');
    fault = null;
    // Another configuration is another chance, also where it hung.
    await git(room.main, 'config', 'x.y', 'z');
    expect(await room.grant()).toBe(linkedRoot);
  });

  it.each(Object.entries(denials))('R31, R34: says %s: is a no', async (_, what) => {
    fault = what;
    expect([await room.grant(), await room.grant()]).toEqual([disagrees, disagrees]);
    expect(await room.grant(room.main)).toBe('workspace root');
    fault = null;
    expect(await room.grant()).toBe(linkedRoot);
  });

  it('R06: fails when a worktree in use must be proven anew: the change is not committed', async () => {
    await using held = await room.lab.authority.authorizeRepository(room.tree);
    fault = silences['is killed when it is asked']?.[0] ?? null;
    await git(room.tree, 'checkout', '-q', '--detach');
    // Nothing that the prover had a say in has changed.
    expect(await currencyOf(held)).toBe('current');
    await writeFile(join(room.tree, '.git'), `gitdir: ${room.administration}\n`);
    expect(await currencyOf(held)).toBe('prover_unavailable: child-died');
    fault = withRowFields({ valid: false });
    await git(room.main, 'config', 'x.y', 'z');
    expect(await currencyOf(held)).toBe(disagrees);
    fault = null;
    expect(await currencyOf(held)).toBe('current');
  });
});

/** Git, except for what it says when it is asked for the worktrees. */
async function makeGit(place: string, list: string): Promise<string> {
  const program = join(place, 'git');
  const lines = [
    '#!/bin/sh',
    'case " $* " in',
    `*" worktree list "*) ${list} ;;`,
    '*) exec git "$@" ;;',
    'esac',
  ];
  await writeFile(program, `${lines.join('\n')}\n`, { mode: 0o755 });
  return program;
}

/** Git's answer up to the end of its last row, to which more is added. */
const withoutEnd = 'git "$@" | head -c -1';
const lists: Readonly<Record<string, readonly [list: string, answer: string]>> = {
  'what Git says': ['exec git "$@"', linkedRoot],
  'a prunable row': [
    `${withoutEnd}; printf 'prunable gitdir file points to non-existent location\\0\\0'`,
    disagrees,
  ],
  'a prunable row without a reason': [`${withoutEnd}; printf 'prunable\\0\\0'`, disagrees],
  'a locked row': [`${withoutEnd}; printf 'locked\\0\\0'`, linkedRoot],
  'a locked row with a reason that says prunable': [
    `${withoutEnd}; printf 'locked prunable x\\0\\0'`,
    linkedRoot,
  ],
  'a bare row': [`${withoutEnd}; printf 'bare\\0\\0'`, disagrees],
  'another path': [`git "$@" | sed -z 's#/tree$#/tree2#'`, disagrees],
  'only the main checkout': [`git "$@" | sed -z '/^$/q'`, disagrees],
  'the main checkout last': [
    `git "$@" | sed -z 's#/main$#/m#;s#/tree$#/main#;s#/m$#/tree#'`,
    'workspace_not_authorized',
  ],
  'lines instead of fields': [`git "$@" | tr '\\0' '\\n'`, 'workspace_not_authorized'],
  nothing: ['true', 'workspace_not_authorized'],
  'a failure': ['exit 128', 'workspace_not_authorized'],
  'a death by a signal': ['kill -9 $$', 'prover_unavailable: signal'],
  'too much': ['exec cat /dev/zero', 'prover_unavailable: output-limit'],
};

describe('a Git program that lists', () => {
  it.each(Object.entries(lists))('R31, R34: %s', async (_, [list, answer]) => {
    const gitProgram = await makeGit(room.lab.place, list);
    await using faulty = await createWorktreeLab({ mode: 'git', gitProgram });
    expect(await faulty.grant()).toBe(answer);
  });

  it('R04: for ever is killed at its deadline, with what it started', async () => {
    const gitProgram = await makeGit(room.lab.place, 'sleep 1000');
    await using faulty = await createWorktreeLab({ mode: 'git', gitProgram });
    expect(await faulty.grant()).toBe('prover_unavailable: deadline');
    expect(faulty.lab.git.running).toBe(0);
  });
});

describe('a prover that is not there', () => {
  const absent = () => ({ state: 'absent' }) as const;
  it.each<readonly [ProverMode, string]>([
    ['nodegit', 'absent'],
    ['both', 'absent'],
  ])('R04: no nodegit, prover %s: no answer for a worktree', async (mode, reason) => {
    await using other = await createWorktreeLab({ mode, nodegitState: absent });
    expect(await other.grant()).toBe(`prover_unavailable: ${reason}`);
  });

  it('R04: no Git where only Git may answer: no answer for a worktree', async () => {
    for (const mode of ['git', 'both'] as const) {
      await using other = await createWorktreeLab({ mode, gitProgram: '/nonexistent/git' });
      expect(await other.grant()).toBe('prover_unavailable: spawn');
    }
  });

  it('R04: neither: no answer for a worktree', async () => {
    const options = { mode: 'auto', nodegitState: absent, gitProgram: '/nonexistent/git' } as const;
    await using other = await createWorktreeLab(options);
    expect(await other.grant()).toBe('prover_unavailable: spawn');
  });

  it('auto: no nodegit: Git answers for a worktree', async () => {
    await using other = await createWorktreeLab({ mode: 'auto', nodegitState: absent });
    expect(await other.grant()).toBe(linkedRoot);
  });

  it('auto: no Git: nodegit answers for a worktree', async () => {
    await using other = await createWorktreeLab({ mode: 'auto', gitProgram: '/nonexistent/git' });
    expect(await other.grant()).toBe(linkedRoot);
  });

  it('R04: one that goes away in the middle of the proof is no answer', async () => {
    await using closing = await createLab({ mode: 'nodegit' });
    await using other = await createWorktreeLab({ prover: closing.provers });
    expect(await other.grant(other.main)).toBe('workspace root');
    await closing.provers.close();
    expect(await other.grant()).toMatch(/^prover_unavailable: /);
  });
});
