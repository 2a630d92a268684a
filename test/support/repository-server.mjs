// Serves one state directory over HTTP through the compiled package, as one of several processes:
// repository-server <compiled> <state> <home>. Sends its port, and ends when its parent lets go of it.
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, stateDirectory, home] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(compiled, file)).href);
const { createService } = await load('index.js');
const { createApp, createAppServer } = await load('http/index.js');

const service = await createService({
  stateDirectory,
  prover: 'git',
  home,
  network: { protocols: ['file'] },
});
const quiet = () => undefined;
const app = createApp(service, {
  authenticate: () => ({ subject: 'operator', operator: true }),
  logger: { debug: quiet, info: quiet, error: quiet },
});
const server = createAppServer(app);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send({ port: server.address().port });

await once(process, 'disconnect');
await app.drain();
server.close();
server.closeAllConnections();
await service.close();
process.exit();
