import { type HostContext, startPlugin } from './plugin.ts';
import { type ConfigSchema, configSchema, type PluginConfig } from './plugin-config.ts';

/** The plugin for DeepSeek Harness: what its loader, Cordis, looks for in a module. */
export const name = 'workspace-authority';

/**
 * Only what a route needs. A service of the list that goes away takes the whole plugin with it, and requests would be answered by the
 * host's own page: the registry and the sessions are asked at use, and where they are absent the answer says so.
 */
export const inject: readonly string[] = ['webServer'];

export const Config: ConfigSchema = configSchema;

/** Resolves with what Cordis calls, and waits for, when the plugin is unloaded. @throws as `startPlugin` */
export async function apply(context: HostContext, config: PluginConfig = {}): Promise<() => Promise<void>> {
  return startPlugin(context, config);
}

export type { HostContext, HostRoute } from './plugin.ts';
export type { ConfigIssue, ConfigSchema, PluginConfig } from './plugin-config.ts';
