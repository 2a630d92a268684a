import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createApp, createAppServer, createStandaloneAuthentication, drainServer } from '../../http/index.ts';
import {
  AuthorityError,
  createService,
  isAuthorityError,
  openStandaloneState,
  type Readiness,
  type Service,
} from '../../index.ts';
import { type Command, listOption, type OptionValues, textOption, UsageError } from '../command.ts';
import { untilStopped } from '../stop-signals.ts';

const defaultPort = 7420;
const defaultHost = '127.0.0.1';

export const serve: Command = {
  name: 'serve',
  usage:
    '[--host 127.0.0.1] [--port 7420] [--workspace DIR]... [--allowed-host HOST]... [--trusted-proxy-host HOST]... [--fetch-every SECONDS] [--trust-hooks DIR]...',
  summary: 'Serve the registered directories over HTTP until SIGTERM or SIGINT.',
  help: [
    '  --host ADDRESS  address to listen on; one that other machines reach needs --allowed-host too',
    '  --port NUMBER   0 takes any free one',
    '  --workspace DIR            register it first, unless it is',
    '  --allowed-host HOST        answer for this Host header beside the loopback names, e.g. box.example:7420',
    '  --trusted-proxy-host HOST  let a proxy on this machine speak for this host',
    '  --trust-hooks DIR          run the hooks in the Git directory of this main checkout',
    '  --fetch-every SECONDS      fetch from origin so often what clients look at; 10 or more, never by default',
  ],
  options: {
    host: { type: 'string' },
    port: { type: 'string' },
    workspace: { type: 'string', multiple: true },
    'allowed-host': { type: 'string', multiple: true },
    'trusted-proxy-host': { type: 'string', multiple: true },
    'fetch-every': { type: 'string' },
    'trust-hooks': { type: 'string', multiple: true },
  },
  positionals: [0, 0],
  run: async ({ values, terminal, json, stateDirectory }) => {
    const { host, port, allowedHosts, trustedProxyHosts } = readAddress(values);
    const fetching = readFetchEvery(values);
    const place = stateDirectory === undefined ? {} : { stateDirectory };
    const trustedHooks = listOption(values, 'trust-hooks').map((directory) => resolve(directory));
    const stopped = untilStopped();
    await using service = await createService({ ...place, ...fetching, trustedHooks });
    await using state = await openStandaloneState({
      ...place,
      onAuditFailure: () =>
        terminal.note('workspace-authority: audit.jsonl cannot be written; requests are served on'),
    });
    for (const directory of listOption(values, 'workspace')) await register(service, resolve(directory));
    await requireRegistered(service, trustedHooks);
    const standalone = createStandaloneAuthentication(state.token);
    const { authenticate, signIn } = standalone;
    const app = createApp(service, {
      authenticate,
      signIn,
      allowedHosts,
      trustedProxyHosts,
      audit: state.audit,
    });
    const server = createAppServer(app);
    server.listen(port, host);
    await once(server, 'listening');
    const origin = `http://${authority(server.address() as AddressInfo)}`;
    const url = `${origin}/api/sign-in?code=${standalone.issueCode()}`;
    if (json) {
      const token = await state.token.current();
      terminal.print(JSON.stringify({ url, api: `${origin}/api`, token, pid: process.pid }));
    } else {
      for (const line of welcome(await service.readiness(), url, state.tokenFile)) terminal.print(line);
    }
    await stopped;
    await drainServer(server, app);
    return 0;
  },
};

interface Address {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly trustedProxyHosts: readonly string[];
}

function readAddress(values: OptionValues): Address {
  const host = textOption(values, 'host') ?? defaultHost;
  const port = textOption(values, 'port') ?? String(defaultPort);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError('--port takes a number from 0 to 65535');
  if (host === '') throw new UsageError('--host takes an address');
  const allowedHosts = listOption(values, 'allowed-host');
  if (!isLoopback(host) && allowedHosts.length === 0) {
    throw new UsageError(
      `--host ${host} can be reached from other machines: name what they call it with --allowed-host, and put TLS before it`,
    );
  }
  return {
    host,
    port: Number(port),
    allowedHosts,
    trustedProxyHosts: listOption(values, 'trusted-proxy-host'),
  };
}

function readFetchEvery(values: OptionValues): { readonly fetchEveryMs?: number } {
  const seconds = textOption(values, 'fetch-every');
  if (seconds === undefined) return {};
  if (!/^\d{2,6}$/.test(seconds) || Number(seconds) < 10)
    throw new UsageError('--fetch-every takes a number of seconds from 10 to 999999');
  return { fetchEveryMs: Number(seconds) * 1000 };
}

/** A name that is no row's would be trusted without a word and run nothing. */
async function requireRegistered(service: Service, directories: readonly string[]): Promise<void> {
  const rows = (await service.workspaces?.list()) ?? [];
  const stray = directories.find((directory) => !rows.some(({ path }) => path === directory));
  if (stray !== undefined)
    throw new UsageError(`--trust-hooks ${stray}: no registered workspace; add it with --workspace`);
}

/** RFC 6890: 127.0.0.0/8 and ::1 never leave the machine. Any other name may. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function authority({ address, family, port }: AddressInfo): string {
  // A wildcard address is nothing a browser can go to.
  const reachable = address === '0.0.0.0' || address === '::' ? 'localhost' : address;
  return family === 'IPv6' && reachable === address ? `[${address}]:${port}` : `${reachable}:${port}`;
}

async function register({ workspaces }: Service, path: string): Promise<void> {
  if (workspaces === null) throw new AuthorityError('not_offered');
  try {
    await workspaces.add(path);
  } catch (error) {
    if (!isAuthorityError(error) || error.code !== 'workspace_already_registered') throw error;
  }
}

function welcome({ registry, prover, roots }: Readiness, url: string, tokenFile: string): readonly string[] {
  const unusable = roots.filter(({ authorized }) => !authorized).length;
  const nodegit = prover.nodegit === 'ready' ? '' : `, nodegit ${prover.nodegit}`;
  const problems = [
    ...(registry.code === null
      ? []
      : [`registry: ${registry.code}; nothing is authorised until it can be read`]),
    ...(unusable === 0 ? [] : [`${unusable} of them cannot be used now; see \`workspace-authority doctor\``]),
    ...(registry.rows === 0 ? ['add one: workspace-authority workspaces add DIR'] : []),
  ];
  return [
    `workspaces: ${registry.rows ?? 'unknown'}`,
    ...problems.map((problem) => `  ${problem}`),
    `prover: ${prover.active}${nodegit}`,
    `token: in ${tokenFile}`,
    `open once: ${url}`,
  ];
}
