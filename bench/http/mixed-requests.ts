import { createHash, randomBytes } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeRepository } from '../sides/repository.ts';
import { randomText } from '../sides/scratch.ts';
import { type Answer, Connection } from './connection.ts';
import { queryPath, type RequestParts, requestBytes, type Target } from './request-bytes.ts';

const [first, second] = [randomText(4096), randomText(4096)] as const;
/** Larger than a socket buffers, so that a client that goes away leaves the server in the middle of it. */
const largeBytes = 4 * 1024 * 1024;
const mostAttempts = 20;

/** A repository with a directory for each worker. */
export async function fillForMixedRequests(root: string, workers: number): Promise<void> {
  await makeRepository(root);
  await symlink('/etc/hostname', join(root, 'outward'));
  await writeFile(join(root, 'large.png'), randomBytes(largeBytes));
  for (let worker = 0; worker < workers; worker += 1) {
    await mkdir(join(root, `worker-${worker}`));
    await writeFile(join(root, `worker-${worker}`, 'text'), first);
  }
}

/** One request of a round and the statuses that are right for it. */
interface Step {
  readonly request: Buffer;
  readonly statuses: readonly number[];
}

/** A round of every kind of request: reads, changes and refusals. It leaves the files as it found them. */
export function stepsOf(target: Target, root: string, worker: number): readonly Step[] {
  const own = (name: string): string => `worker-${worker}/${name}`;
  const step = (statuses: readonly number[], method: string, path: string, parts?: RequestParts): Step => ({
    request: requestBytes(target, method, path, parts),
    statuses,
  });
  const get = (status: number, route: string, path: string, headers = {}, cwd = root): Step =>
    step([status], 'GET', queryPath(`/api/${route}`, { cwd, path }), { headers });
  const change = (status: number, method: string, route: string, fields: object, headers = {}): Step =>
    step([status], method, `/api/${route}`, { headers, body: { cwd: root, ...fields } });
  const save = (status: number, content: string, base: string): Step =>
    change(status, 'POST', 'file', { path: own('text'), content, baseSha1: sha1(base) });
  const created = { path: own('created'), content: first };
  const onlyNew = { 'If-None-Match': '*' };

  return [
    get(200, 'file', own('text')),
    get(304, 'file', own('text'), { 'If-None-Match': etag(first) }),
    get(206, 'raw', 'large.png', { Range: 'bytes=100-4195' }),
    step([200], 'HEAD', queryPath('/api/raw', { cwd: root, path: 'large.png' })),
    get(200, 'list', `worker-${worker}`),
    step([200], 'GET', queryPath('/api/detect', { path: root })),
    save(200, second, first),
    save(409, first, first),
    save(200, first, second),
    change(201, 'PUT', 'file', created, onlyNew),
    change(412, 'PUT', 'file', created, onlyNew),
    change(200, 'POST', 'rename', { from: own('created'), to: own('renamed') }),
    change(409, 'POST', 'rename', { from: own('renamed'), to: own('text') }),
    change(200, 'DELETE', 'file', { path: own('renamed'), baseSha1: sha1(first) }),
    change(201, 'POST', 'mkdir', { path: own('directory') }),
    change(200, 'DELETE', 'directory', { path: own('directory') }),
    get(404, 'file', own('missing')),
    get(422, 'file', `worker-${worker}`),
    get(403, 'file', 'outward'),
    get(403, 'file', '../outside'),
    get(403, 'file', '.git/config'),
    get(403, 'file', 'text', {}, `${root}/worker-${worker}`),
    step([404], 'GET', '/api/unknown'),
    step([405], 'POST', '/api/list', { body: {} }),
    step([400], 'POST', '/api/mkdir', { body: { cwd: root, path: 'a', more: 1 } }),
    // After some failures the address is told to wait.
    { request: requestBytes({ ...target, token: 'wrong' }, 'GET', '/api/detect'), statuses: [401, 429] },
  ];
}

/** Sends rounds over one connection until the budget, which all workers share, is used up. */
export async function sendMixedRequests(
  target: Target,
  root: string,
  worker: number,
  budget: { left: number },
): Promise<void> {
  const steps = stepsOf(target, root, worker);
  const connection = await Connection.open(target.port);
  try {
    while (budget.left > 0) {
      for (const [index, { request, statuses }] of steps.entries()) {
        budget.left -= 1;
        const { status, body } = await exchangePatiently(connection, request);
        if (statuses.includes(status)) continue;
        throw new Error(`step ${index} answered ${status}: ${body.toString().slice(0, 300)}`);
      }
      budget.left -= 1;
      await leaveInTheMiddle(target, root);
    }
  } finally {
    connection.close();
  }
}

/** Sends again what the server calls retryable: a child it is just starting holds a copy of every descriptor for a moment. */
async function exchangePatiently(connection: Connection, request: Buffer): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await connection.exchange(request);
    if (answer.status !== 409 || attempt === mostAttempts) return answer;
    if (JSON.parse(answer.body.toString()).code !== 'file_busy') return answer;
  }
}

/** Asks for a large file and goes away when its first bytes arrive. */
async function leaveInTheMiddle(target: Target, root: string): Promise<void> {
  const path = queryPath('/api/raw', { cwd: root, path: 'large.png' });
  const connection = await Connection.open(target.port);
  await connection.abandon(requestBytes(target, 'GET', path));
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

function etag(text: string): string {
  return `"sha256-${createHash('sha256').update(text).digest('base64url')}"`;
}
