import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkspaceFiles } from '../../src/files/workspace-files.ts';
import type { HttpLimits } from '../../src/http/index.ts';
import { deferred } from '../support/deferred.ts';
import { type RunningServer, startServer, testToken } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
/** More than the kernel keeps for both ends of one connection. */
const longText = Buffer.alloc(24 * 1024 * 1024, 'x');

describe('answers that nobody reads', () => {
  const running: RunningServer[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of running.splice(0)) await server[Symbol.asyncDispose]();
  });

  async function start(
    limits: Partial<HttpLimits>,
    overrides: Partial<WorkspaceFiles> = {},
  ): Promise<RunningServer> {
    const files = new Map<string, Uint8Array>([['long.txt', longText]]);
    const service = memoryService(new Map([[root, files]]), overrides);
    const server = await startServer(service, { limits: { fileBytes: longText.length, ...limits } });
    running.push(server);
    return server;
  }

  /** Sends the requests in one piece and reads nothing of the answers but their first bytes. */
  async function ask(server: RunningServer, target: string, times: number, token = testToken) {
    const socket = await server.connect();
    sockets.push(socket);
    socket.on('error', () => undefined);
    const lines = [
      `GET ${target} HTTP/1.1`,
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${token}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`.repeat(times));
    await once(socket, 'data');
    socket.pause();
    return socket;
  }

  it.each([1, 2, 5])(
    'W27: a caller that goes away with %i pipelined downloads unread leaves no file open',
    async (times) => {
      const closed = deferred<void>();
      let open = 0;
      let opened = 0;
      const server = await start(
        { taggedBytes: 0 },
        {
          open: async () => {
            open += 1;
            opened += 1;
            return {
              size: 1_000_000_000,
              modifiedMs: 0,
              etag: async () => '"sha256-x"',
              readAt: async (_position, length) => new Uint8Array(length),
              [Symbol.dispose]: () => {
                open -= 1;
                if (open === 0 && opened === times) closed.resolve();
              },
            };
          },
        },
      );
      const socket = await ask(server, `/api/raw?cwd=${root}&path=a.png`, times);
      await expect.poll(() => opened).toBe(times);
      socket.destroy();
      await closed.promise;
      await server.app.drain();
    },
  );

  it.each([
    ['a text answer', `/api/file?cwd=${root}&path=long.txt`, 1, testToken],
    ['pipelined text answers', `/api/file?cwd=${root}&path=long.txt`, 3, testToken],
    ['refusals of an unknown caller', '/api/workspaces', 40_000, 'nobody'],
  ])('W27: a caller that leaves %s unread loses its connection', async (_title, target, times, token) => {
    const server = await start({ stallTimeoutMs: 50 });
    const accepted = once(server.server, 'connection') as Promise<[Socket]>;
    await ask(server, target, times, token);
    const [connection] = await accepted;
    if (!connection.destroyed) await once(connection, 'close');
    expect(connection.destroyed).toBe(true);
  });

  it('an answer left unread counts as a request of its caller until its connection ends', async () => {
    const server = await start({ requestsPerCaller: 1 });
    const socket = await ask(server, `/api/file?cwd=${root}&path=long.txt`, 1);
    const another = () => server.send({ path: `/list?cwd=${root}` });
    expect((await another()).status).toBe(429);
    socket.destroy();
    await expect.poll(async () => (await another()).status).toBe(200);
  });
});
