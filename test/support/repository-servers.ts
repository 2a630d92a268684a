import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server in a process of its own; disposing waits until it has closed by itself. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  get(route: string, query: Readonly<Record<string, string>>): Promise<ProcessAnswer>;
  change(method: 'POST' | 'PUT', route: string, body: unknown, headers?: object): Promise<ProcessAnswer>;
  /** One of the actions of `POST /action`. */
  act(cwd: string, name: string, params?: object): Promise<ProcessAnswer>;
}

export interface ProcessAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

const program = join(import.meta.dirname, 'repository-server.mjs');

/** @param compiled what `compileSources` answered with */
export async function startServerProcess(
  compiled: string,
  stateDirectory: string,
  home: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ServerProcess> {
  const child = fork(program, [compiled, stateDirectory, home], { env: environment, execArgv: [] });
  const ended = once(child, 'exit');
  const early = ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`)));
  const [{ port }] = (await Promise.race([once(child, 'message'), early])) as [{ port: number }];
  early.catch(() => undefined);
  const origin = `http://127.0.0.1:${port}`;
  const send = async (route: string, init: RequestInit): Promise<ProcessAnswer> => {
    const answer = await fetch(`${origin}/api${route}`, init);
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as ProcessAnswer['body'],
    };
  };
  const change: ServerProcess['change'] = (method, route, body, headers = {}) =>
    send(route, {
      method,
      body: JSON.stringify(body),
      headers: { origin, 'content-type': 'application/json', ...headers },
    });
  return {
    pid: child.pid as number,
    get: (route, query) => send(`${route}?${new URLSearchParams(query)}`, {}),
    change,
    act: (cwd, name, params = {}) => change('POST', '/action', { cwd, name, params }),
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
