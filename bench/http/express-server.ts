/** The other side: the shortest routes one would write with Express. No guard, no version check. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import writeFileAtomic from 'write-file-atomic';
import { settingsOfChild } from './child.ts';

const { root } = settingsOfChild<{ root: string }>();
const app = express();
app.disable('x-powered-by');

app.get('/api/file', async (request, response) => {
  const path = String(request.query['path']);
  const content = await readFile(join(root, path), 'utf8');
  response.json({ ok: true, kind: 'text', size: Buffer.byteLength(content), content });
});

app.post('/api/file', express.json({ limit: '8mb' }), async (request, response) => {
  const { path, content } = request.body as { path: string; content: string };
  await writeFileAtomic(join(root, path), content);
  response.json({ ok: true, bytes: Buffer.byteLength(content) });
});

const server = createServer(app);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
