/**
 * A host of the real packages, composed in this process as its bundles compose it, and driven over the channel to the test. A copy of this
 * file lies beside their `node_modules`. Argument: {home, compression, plugin, config, connection, projection} as JSON.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Context, Service } from '@deepseek-ai/cordis';
import { z } from 'zod';

const options = JSON.parse(process.argv[2]);
const context = new Context();
const jsonl = {
  root: join(options.home, 'sessions'),
  packChunks: true,
  compression: options.compression,
  preparedSessionCacheSize: 5,
  writeBatchMaxDelayMs: 200,
};
const rows = [
  ['@deepseek-ai/dsh-session', {}],
  ['@deepseek-ai/dsh-session-persistence-jsonl', jsonl],
  ['@deepseek-ai/dsh-session-projection', {}],
  ['@deepseek-ai/dsh-storage', {}],
  ['@deepseek-ai/dsh-storage-json', { root: join(options.home, 'storages') }],
  ['@deepseek-ai/dsh-storage-domain', { backend: 'json' }],
  ['@deepseek-ai/dsh-workspace', {}],
  ['@deepseek-ai/dsh-host-webserver', { host: '127.0.0.1', port: 0 }],
];

/** Sessions by id, and the fibers that own them: a session lives as long as its owner. */
const sessions = new Map();
const owners = new Map();
let registry;
let loaded;

class Connection extends Service {
  constructor(ctx) {
    super(ctx, 'connection');
  }
}

class SecondConnection extends Connection {
  requestRejection({ headers }) {
    return headers.cookie === 'let=me-in' ? undefined : 401;
  }
}

async function start() {
  for (const [name, config] of rows) {
    const module = await import(name);
    const fiber = context.plugin(module.default ?? module, config);
    if (name === '@deepseek-ai/dsh-workspace') registry = fiber;
    if (options.toleratesFailures) await fiber.then(undefined, () => undefined);
    else await fiber;
  }
  if (options.projection) projectDirectories();
  if (options.connection) await context.plugin(options.connection === 2 ? SecondConnection : Connection);
  await operations.load();
  return { port: context.get('webServer').port };
}

/** The projection of 0.2.1 in the shape that 0.1.0 takes. */
function projectDirectories() {
  context.get('sessionProjections').register({
    key: 'workingDirectory',
    stateVersion: 1,
    schema: z.string().nullable(),
    init: () => null,
    apply: (state, event) => (event.type === 'working-directory/change' ? event.data.cwd : state),
    view: (state) => state,
  });
}

const operations = {
  start,
  createWorkspace: async (path, title) => {
    const { id, path: canonical } = await context.get('workspaceRegistry').create(path, title);
    return { id, path: canonical };
  },
  deleteWorkspace: (id) => context.get('workspaceRegistry').delete(id),
  archiveSession: (id) => context.get('workspaceRegistry').archiveSession(id),
  attachSession: (workspaceId, id) => context.get('workspaceRegistry').get(workspaceId).attachSession(id),
  stopRegistry: () => registry.dispose(),
  createSession: async (id, meta) => {
    const owner = context.plugin({
      inject: ['sessions'],
      apply: (ctx) => void sessions.set(id, ctx.sessions.create(id, { meta })),
    });
    await owner;
    owners.set(id, owner);
  },
  /** These events, or any that means nothing to us. */
  append: async (id, ...events) => {
    const session = sessions.get(id);
    const something = [['todo/write', { todos: [{ content: 'something', status: 'pending' }] }]];
    for (const [type, data] of events.length > 0 ? events : something) session.append(type, data);
    await context.get('sessions').flush(session);
    return context.get('sessionPersistence').locate(session.header).path;
  },
  endSession: async (id) => {
    await owners.get(id).dispose();
    sessions.delete(id);
  },
  load: async () => {
    loaded = context.plugin(await import(options.plugin), options.config);
    await loaded;
  },
  unload: () => loaded.dispose(),
  reload: () => loaded.restart(),
  update: async (config) => {
    loaded.update(config);
    await loaded.await();
  },
  /** What this process has open, of which a plugin could leave something behind. */
  open: () => ({
    files: readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)].filter((target) =>
          /^\/(?!dev|proc)|inotify/.test(target),
        );
      } catch {
        return [];
      }
    }),
    children: readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim(),
    resources: process.getActiveResourcesInfo().toSorted(),
  }),
};

process.on('message', async ({ id, name, args }) => {
  try {
    process.send({ id, value: await operations[name](...args) });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
process.on('disconnect', () => process.exit());
