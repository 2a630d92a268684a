import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  firstForwarded,
  isLoopbackPeer,
  type OriginFacts,
  sameOrigin,
} from '../../src/http/gates/same-origin.ts';
import type { DirectoryHandle } from '../../src/native/binding.ts';
import cases from '../cases/wire-cases.json' with { type: 'json' };
import { createHttpLab, type HttpLab, put, sha1Of } from '../support/http-lab.ts';
import { type TestAnswer, testToken } from '../support/http-server.ts';
import { expectNamedElsewhere } from '../support/placed-rows.ts';
import { testBinding } from '../support/test-binding.ts';
import { expectNoLeak } from './public-bugs/bug-table.ts';
import { elsewhereRows, laterRows } from './wire-cases-not-here.ts';

interface Row {
  readonly id: string;
  readonly request: {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Record<string, string>;
    readonly json?: Record<string, unknown>;
    readonly rawBody?: string;
    readonly call?: string;
    readonly args?: readonly unknown[];
  };
  readonly expect: {
    readonly status?: number | readonly number[] | string | null;
    readonly body?: Record<string, unknown>;
    readonly headers?: Record<string, string>;
    readonly result?: unknown;
  };
  readonly note?: string;
}

const rows = cases as unknown as readonly Row[];

/** How a row is run: as it is written, or changed where api.md and the decisions change it. */
interface Plan {
  /** A route that exists, for rows whose promise is a gate in front of every route. */
  readonly instead?: { readonly path?: string; readonly json?: Record<string, unknown> };
  readonly prepare?: (lab: HttpLab) => Promise<void>;
  readonly status?: number;
  readonly check?: (answer: TestAnswer, lab: HttpLab) => Promise<void> | void;
}

const asWritten: Plan = {};
const unregisteredRead: Plan = { instead: { path: '/list?cwd=OUTSIDE' }, status: 403 };
const unregisteredChange: Plan = {
  instead: { path: '/mkdir', json: { cwd: 'OUTSIDE', path: 'made' } },
  check: outsideUnchanged,
};

const plans: Readonly<Record<string, Plan>> = {
  'sec-auth-get-01': asWritten,
  'sec-auth-get-02': asWritten,
  'sec-auth-get-03': unregisteredRead,
  'sec-auth-get-04': unregisteredRead,
  'sec-auth-get-05': asWritten,
  'sec-auth-get-09': asWritten,
  'sec-auth-get-10': asWritten,
  'sec-auth-post-01': unregisteredChange,
  'sec-auth-post-02': unregisteredChange,
  'sec-auth-post-03': unregisteredChange,
  'sec-auth-post-04': { check: outsideUnchanged },
  'sec-auth-post-05': { check: outsideUnchanged },
  'sec-selector-relative': asWritten,
  'sec-selector-missing': asWritten,
  'sec-nested-detect': asWritten,
  'sec-nested-discard': {
    check: async (_answer, lab) => {
      expect(await readFile(join(lab.repo, 'tracked.txt'), 'utf8')).toBe('one\n');
    },
  },
  'sec-commit-no-message': asWritten,
  'sec-fetch-no-remote': asWritten,
  'sec-symlink-read-1': { check: tellsNothing },
  'sec-symlink-read-2': { check: tellsNothing },
  'sec-symlink-raw-2': { check: tellsNothing },
  'sec-symlink-write-2': {
    check: async (_answer, lab) => {
      expect(await readFile(join(lab.sandbox, 'external/external.txt'), 'utf8')).toBe('outside-secret\n');
    },
  },
  'sec-gitdir-read': asWritten,
  'sec-gitdir-write': {
    check: async (_answer, lab) => {
      expect(await readFile(join(lab.repo, '.git/config'), 'utf8')).toContain('repositoryformatversion');
    },
  },
  'sec-gitdir-alias-read': asWritten,
  'sec-gitdir-alias-raw': asWritten,
  'sec-hardlink-save': {
    status: 200,
    check: async (_answer, lab) => {
      expect(await readFile(join(lab.repo, 'inside-hard.txt'), 'utf8')).toBe('inside-after\n');
      expect(await readFile(join(lab.sandbox, 'shared.txt'), 'utf8')).toBe('shared-before\n');
    },
  },
  'sec-hardlink-mode': {
    prepare: (lab) => chmod(join(lab.repo, 'inside-hard.txt'), 0o664),
    check: async (_answer, lab) => {
      expect((await stat(join(lab.repo, 'inside-hard.txt'))).mode & 0o7777).toBe(0o664);
    },
  },
  'sec-raw-svg-status': {
    prepare: (lab) => put(join(lab.repo, 'unsafe.svg'), '<svg xmlns="x"><script>1</script></svg>'),
  },
  'sec-raw-not-image': asWritten,
  'sec-post-no-ct': asWritten,
  'sec-post-jsonp-ct': asWritten,
  'sec-post-no-origin': asWritten,
  'sec-post-fetch-site': asWritten,
  'sec-fwd-none': asWritten,
  'sec-fwd-proto': asWritten,
  'sec-fwd-evil-origin': asWritten,
  'sec-fwd-rewritten-host': asWritten,
  'sec-fwd-direct-still-ok': asWritten,
  'sec-body-bad-json': asWritten,
  'sec-body-too-large': { instead: { json: { padding: 'x'.repeat(8 * 1024 * 1024 + 1) } } },
  'sec-batch-outside-unchanged': { check: outsideUnchanged },
  'sec-batch-ok': asWritten,
  'run-detect': { check: (answer) => expect(answer.body?.['isLinkedWorktree']).toBe(false) },
  'run-file-cas-conflict': {
    check: async (answer, lab) => {
      expect(answer.body?.['sha1']).toBe(await sha1Of(join(lab.repo, 'editable.txt')));
      expect(await readFile(join(lab.repo, 'editable.txt'), 'utf8')).toBe('one\n');
    },
  },
  'run-file-escape': asWritten,
  'run-file-missing': asWritten,
};

/** Rows about a function, run on ours. */
const units: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
  sameOrigin: ([facts]) => sameOrigin(facts as OriginFacts, new Set(['evil.example'])),
  isLoopbackPeer: ([peer]) => isLoopbackPeer(peer as { remoteAddress?: string }),
  firstForwarded: ([value]) => firstForwarded(value as string | undefined),
};
const isUnit = (row: Row) => row.request.call !== undefined && row.request.call in units;

/** Rows that need more than one request; each has its own test below. */
const scenarios = [
  'sec-anchor-before',
  'sec-save-concurrent-one-winner',
  'sec-save-unsupported-closed',
  'sec-pathmode-no-temp',
  'sec-raw-abort-fds',
  'run-file-race',
];

describe('the cases of the wire contract', () => {
  let lab: HttpLab;
  beforeAll(async () => {
    lab = await createHttpLab({
      app: (port) => {
        const hosts = [`127.0.0.1:${port}`, 'tunnel.example', 'evil.example'];
        return { allowedHosts: hosts, trustedProxyHosts: hosts };
      },
    });
  });
  beforeEach(() => lab.reset());
  afterAll(() => lab[Symbol.asyncDispose]());

  it('each row is run here, or it is said where or when it is', () => {
    const placed = [
      ...Object.keys(plans),
      ...scenarios,
      ...Object.keys(elsewhereRows),
      ...Object.keys(laterRows),
    ];
    const units_ = rows.filter(isUnit).map((row) => row.id);
    expect([...placed, ...units_].sort()).toEqual(rows.map((row) => row.id).sort());
    expectNamedElsewhere(elsewhereRows);
  });

  it.each(rows.filter(isUnit))('R40: $id', (row) => {
    const call = units[row.request.call ?? ''];
    expect(call?.(row.request.args ?? [])).toEqual(row.expect.result);
  });

  it.each(rows.filter((row) => row.id in plans))('R41: $id: $note', async (row) => {
    const plan = plans[row.id] as Plan;
    await plan.prepare?.(lab);
    const answer = await send(row, plan);
    const wanted = plan.status ?? row.expect.status;
    if (Array.isArray(wanted)) expect(wanted).toContain(answer.status);
    else expect(answer.status).toBe(wanted);
    if (answer.status !== 200 || row.expect.body !== undefined) {
      expect(answer.body).toMatchObject({ ok: answer.status === 200, ...row.expect.body });
    }
    for (const [name, text] of Object.entries(row.expect.headers ?? {})) {
      expect(String(answer.headers[name])).toContain(text.replace(/^contains /, ''));
    }
    if (answer.status >= 400) expectNoLeak(lab, answer);
    await plan.check?.(answer, lab);
  });

  it('R02: sec-anchor-before: a registered directory authorises', async () => {
    await using capability = await lab.service.authority.authorize(lab.plain);
    expect(capability.root).toBe(lab.plain);
  });

  it('R13: sec-save-concurrent-one-winner: of saves on the same version one wins', async () => {
    const baseSha1 = await sha1Of(join(lab.repo, 'inside-hard.txt'));
    const contents = ['writer-a', 'writer-b', 'writer-c'];
    const answers = await Promise.all(
      contents.map((content) =>
        lab.server.send({
          method: 'POST',
          path: '/file',
          json: { cwd: lab.repo, path: 'inside-hard.txt', content, baseSha1 },
        }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
    const winner = contents[answers.findIndex((answer) => answer.status === 200)];
    expect(await readFile(join(lab.repo, 'inside-hard.txt'), 'utf8')).toBe(winner);
  });

  it('R16: sec-save-unsupported-closed: without an atomic exchange nothing is saved', async () => {
    const onRoot = (handle: DirectoryHandle) => {
      handle.probeExchange = async () => ({ supported: false, syscall: 'renameat2', code: 'EINVAL' });
    };
    await using other = await createHttpLab({ onRoot });
    const answer = await saveHardLinked(other);
    expect([answer.status, answer.body?.['code']]).toEqual([503, 'atomic_exchange_unavailable']);
    expect(answer.body?.['message']).toMatch(/^atomic file exchange unavailable/);
    await nothingChanged(other);
  });

  it('R16: sec-pathmode-no-temp: without openat2 nothing is saved', async () => {
    const probe = () => ({ ...testBinding.probe(), openat2: { available: false, code: 'ENOSYS' } });
    await using other = await createHttpLab({ probe });
    const answer = await saveHardLinked(other);
    expect([answer.status, answer.body?.['error']]).toEqual([503, 'stable-target-unavailable']);
    await nothingChanged(other);
  });

  it('R14: run-file-race: a write between the check and the exchange wins, and the save is told', async () => {
    let raced = '';
    const onRoot = (handle: DirectoryHandle) => {
      const replace = handle.replace.bind(handle);
      handle.replace = async (path, ...rest) => {
        if (path === 'editable.txt') await writeFile(join(raced, path), 'external\n');
        return replace(path, ...rest);
      };
    };
    await using other = await createHttpLab({ onRoot });
    raced = other.repo;
    const before = await readdir(other.repo);
    const baseSha1 = await sha1Of(join(other.repo, 'editable.txt'));
    const json = { cwd: other.repo, path: 'editable.txt', content: 'must-not-win\n', baseSha1 };
    const answer = await other.server.send({ method: 'POST', path: '/file', json });
    expect([answer.status, answer.body?.['error']]).toEqual([409, 'conflict']);
    expect(answer.body).not.toHaveProperty('recovery');
    expect(answer.body?.['sha1']).toBe(await sha1Of(join(other.repo, 'editable.txt')));
    expect(await readFile(join(other.repo, 'editable.txt'), 'utf8')).toBe('external\n');
    expect(await readdir(other.repo)).toEqual(before);
  });

  it('W27: sec-raw-abort-fds: requests that are given up in the middle leave no descriptor', async () => {
    await put(join(lab.repo, 'large.png'), Buffer.alloc(32 * 1024 * 1024));
    const path = `/api/raw?cwd=${encodeURIComponent(lab.repo)}&path=large.png`;
    const authorization = `Bearer ${testToken}`;
    const giveUp = () =>
      new Promise<void>((resolve, reject) => {
        const request = httpGet({ port: lab.server.port, path, headers: { authorization }, agent: false });
        request.on('error', reject).on('response', (response) => {
          response.once('data', () => response.destroy()).on('close', () => resolve());
        });
      });
    await giveUp();
    await vi.waitFor(async () => expect(await openConnections(lab)).toBe(0));
    const before = testBinding.openHandles();
    await Promise.all(Array.from({ length: 20 }, giveUp));
    await vi.waitFor(() => expect(testBinding.openHandles()).toBeLessThanOrEqual(before), {
      timeout: 10_000,
    });
  });

  function saveHardLinked(place: HttpLab): Promise<TestAnswer> {
    const json = { cwd: place.repo, path: 'inside-hard.txt', content: 'x\n', baseSha1: '0'.repeat(40) };
    return sha1Of(join(place.repo, json.path)).then((baseSha1) =>
      place.server.send({ method: 'POST', path: '/file', json: { ...json, baseSha1 } }),
    );
  }

  async function nothingChanged(place: HttpLab): Promise<void> {
    for (const path of [join(place.repo, 'inside-hard.txt'), join(place.sandbox, 'shared.txt')]) {
      expect(await readFile(path, 'utf8')).toBe('shared-before\n');
    }
    expect(
      (await readdir(place.repo)).filter((name) => name.endsWith('.tmp') || name.startsWith('.wa')),
    ).toEqual([]);
  }

  async function send(row: Row, plan: Plan): Promise<TestAnswer> {
    const { method = 'GET', headers = {}, rawBody } = row.request;
    const json = plan.instead?.json ?? row.request.json;
    const path = plan.instead?.path ?? row.request.path ?? '';
    const authority = `127.0.0.1:${lab.server.port}`;
    const sent: Record<string, string | null> = { 'content-type': null, origin: null };
    for (const [name, value] of Object.entries(headers)) {
      sent[name.toLowerCase()] = value
        .replace('<server origin>', lab.server.origin)
        .replace('127.0.0.1:PORT', authority);
    }
    const body = rawBody !== undefined && row.request.json === undefined && plan.instead?.json === undefined;
    return await lab.server.send({
      method,
      path: resolveQuery(path),
      headers: sent,
      ...(body ? { rawBody } : json === undefined ? {} : { json: await resolveBody(json) }),
    });
  }

  function resolvePlace(value: string): string {
    const places: Record<string, string> = {
      REPO: lab.repo,
      NESTED: lab.nested,
      PLAIN: lab.plain,
      OUTSIDE: lab.outside,
    };
    return places[value] ?? value.replace('<sandbox>', lab.sandbox);
  }

  function resolveQuery(path: string): string {
    const [route = '', query] = path.split('?');
    if (query === undefined) return route;
    const pairs = query.split('&').map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return `${name}=${encodeURIComponent(resolvePlace(value))}`;
    });
    return `${route}?${pairs.join('&')}`;
  }

  async function resolveBody(json: Record<string, unknown>): Promise<Record<string, unknown>> {
    const resolved: Record<string, unknown> = { ...json };
    for (const name of ['cwd', 'path']) {
      if (typeof json[name] === 'string') resolved[name] = resolvePlace(json[name]);
    }
    if (Array.isArray(json['cwds'])) resolved['cwds'] = json['cwds'].map((cwd) => resolvePlace(String(cwd)));
    if (typeof json['baseSha1'] === 'string' && json['baseSha1'].startsWith('<')) {
      resolved['baseSha1'] = await sha1Of(join(String(resolved['cwd']), String(resolved['path'])));
    }
    return resolved;
  }
});

async function outsideUnchanged(_answer: TestAnswer, lab: HttpLab): Promise<void> {
  expect(await readFile(join(lab.outside, 'tracked.txt'), 'utf8')).toBe('one\n');
}

function openConnections({ server }: HttpLab): Promise<number> {
  return new Promise((resolve, reject) => {
    server.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

function tellsNothing(answer: TestAnswer): void {
  expect(answer.text).not.toContain('outside-secret');
}
