import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path/posix';
import { createApp } from '../http/index.ts';
import { createService, type NetworkAccess, type ServiceOptions } from '../service.ts';
import { findHome } from './dsh-home.ts';
import { createHostLogger } from './host-logger.ts';
import { createHostRegistrar } from './host-registrar.ts';
import type { HostServices } from './host-services.ts';
import { createOuterAuthentication } from './outer-authentication.ts';
import type { PluginConfig } from './plugin-config.ts';
import { createHostRegistry } from './registry-adapter.ts';
import { createHostSessions } from './session-adapter.ts';

/** The context of a plugin, as far as this one uses it. */
export interface HostContext extends HostServices {
  readonly logger: unknown;
  /** `@deepseek-ai/dsh-host-webserver`: a prefix covers its path and what is below; the handler gets requests whole, with nothing checked. */
  readonly webServer: {
    /** @returns the way to take the route away @throws Error when the path has a route */
    register(route: HostRoute): () => void;
  };
}

export interface HostRoute {
  readonly kind: 'exact' | 'prefix';
  readonly path: string;
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Where existing clients look for the API. */
const basePath = '/better-workspaces/api';

/** How long a request in work may take when the plugin is unloaded, before its waits are aborted. Milliseconds. */
const graceMs = 10_000;

const challenge = 'DshSession realm="dsh"';

/**
 * Puts the API on the host's web server, and answers with the way to take it away again: that refuses new requests, lets the running ones
 * end, and then closes everything, so that nothing of this plugin is left when it resolves.
 * @throws `state_unavailable` | Error when another plugin has the path
 */
export async function startPlugin(context: HostContext, config: PluginConfig): Promise<() => Promise<void>> {
  const logger = createHostLogger(context.logger);
  const service = await createService({ ...(await serviceOptions(context, config)), logger });
  try {
    const { allowedHosts = [], trustedProxyHosts = [], authentication = 'host' } = config;
    const authenticate = createOuterAuthentication(context, authentication);
    const app = createApp(service, {
      basePath,
      authenticate,
      challenge,
      allowedHosts,
      trustedProxyHosts,
      logger,
    });
    const unregister = context.webServer.register({ kind: 'prefix', path: basePath, handler: app });
    return async () => {
      // The route stays until the end, so that nobody is answered by the host's page for unknown paths.
      await app.drain({ graceMs });
      await service.close();
      unregister();
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** The host's registry and sessions, and the managed worktrees of existing installations beside those in our own state. */
async function serviceOptions(host: HostServices, config: PluginConfig): Promise<ServiceOptions> {
  const home = await findHome(config.home);
  const stateDirectory = config.stateDirectory ?? join(home, 'workspace-authority');
  const logDirectory = config.sessionLogDirectory ?? join(home, 'sessions');
  const { prover, fetchEverySeconds } = config;
  return {
    stateDirectory,
    registry: createHostRegistry(host),
    workspaceRegistrar: createHostRegistrar(host),
    sessions: createHostSessions(host, { logDirectory }),
    managedRoots: [
      { path: join(home, 'worktrees'), scheme: 'plugin' },
      { path: join(stateDirectory, 'worktrees'), scheme: 'authority' },
    ],
    network: networkOf(config),
    ...(prover === undefined ? {} : { prover }),
    ...(fetchEverySeconds === undefined ? {} : { fetchEveryMs: fetchEverySeconds * 1000 }),
  };
}

function networkOf(config: PluginConfig): NetworkAccess {
  const { protocols, sshAuthenticationSocket, sshKnownHostsFile, credentialHelper } = config;
  return {
    ...(protocols === undefined ? {} : { protocols }),
    ...(credentialHelper === undefined ? {} : { credentialHelper }),
    ...(sshAuthenticationSocket === undefined || sshKnownHostsFile === undefined
      ? {}
      : { ssh: { authenticationSocket: sshAuthenticationSocket, knownHostsFile: sshKnownHostsFile } }),
  };
}
