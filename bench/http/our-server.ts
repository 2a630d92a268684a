/** Our side: the whole application behind every gate, as an embedding program would mount it. */
import { timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { createService } from 'workspace-authority';
import { createApp, createAppServer } from 'workspace-authority/http';
import { settingsOfChild } from './child.ts';

const { root, state, token } = settingsOfChild<{ root: string; state: string; token: string }>();
const service = await createService({ stateDirectory: state });
await service.workspaces?.add(root);

const credentials = Buffer.from(`Bearer ${token}`);
const app = createApp(service, {
  authenticate({ headers }) {
    const given = Buffer.from(headers.authorization ?? '');
    const valid = given.length === credentials.length && timingSafeEqual(given, credentials);
    return valid ? { subject: 'bench', operator: false } : null;
  },
  // Every line is made and written, as on standard error, but nobody reads it.
  logger: pino(pino.destination('/dev/null')),
});

const server = createAppServer(app);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
// The leak trial asks for what is really held, not for what waits to be collected.
process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.({ residentBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => {
  server.closeAllConnections();
  server.close();
  void service.close().finally(() => process.exit(0));
});
