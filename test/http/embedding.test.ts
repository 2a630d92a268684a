import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRouter } from '../../src/http/index.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const silent = { debug: () => undefined, info: () => undefined, error: () => undefined };

describe('the router in an application of somebody else', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    const files = new Map([
      ['a.txt', Buffer.from('one\n')],
      ['a.png', Buffer.from('image')],
    ]);
    const service = memoryService(new Map([[root, files]]));
    const authenticate = () => ({ subject: 'somebody', operator: false });
    const app = express();
    app.use('/better-workspaces/api', createRouter(service, { authenticate, logger: silent }));
    const parsed = express.Router();
    parsed.use(express.json(), createRouter(service, { authenticate, logger: silent }));
    app.use('/parsed', parsed);
    app.get('/own', (_request, response) => void response.send('own'));
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  const get = (path: string) => fetch(`${origin}${path}`, { headers: { connection: 'close' } });

  it('R41: answers under any mount, and image URLs name it', async () => {
    const answer = await get(`/better-workspaces/api/file?cwd=${root}&path=a.png`);
    const body = (await answer.json()) as { url: string };
    expect(body.url).toBe('/better-workspaces/api/raw?cwd=%2Fmemory%2Froot&path=a.png');
    expect(await (await get(body.url)).text()).toBe('image');
  });

  it('R41: answers every path below its mount and none beside it', async () => {
    expect((await get('/better-workspaces/api/own')).status).toBe(404);
    expect(await (await get('/own')).text()).toBe('own');
    const problem = await get('/better-workspaces/api');
    expect([problem.status, ((await problem.json()) as { code: string }).code]).toEqual([
      404,
      'route_unknown',
    ]);
  });

  it('R40: a body that a parser before it has taken is a failure of the set-up, not an empty body', async () => {
    const answer = await fetch(`${origin}/parsed/mkdir`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ cwd: root, path: 'd' }),
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      500,
      'internal_error',
    ]);
  });

  it('R40: changes work through the mount', async () => {
    const answer = await fetch(`${origin}/better-workspaces/api/file`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', origin, 'if-none-match': '*' },
      body: JSON.stringify({ cwd: root, path: 'new.txt', content: 'x' }),
    });
    expect(answer.status).toBe(201);
  });
});
