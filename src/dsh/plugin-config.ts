import type { NetworkProtocol } from '../service.ts';

/** What a row of `cordis.patch.yml` may say under `config`. Everything may be left out. */
export interface PluginConfig {
  /** The host's home; default `$DSH_HOME`, else `~/.dsh`. Absolute path. */
  readonly home?: string;
  /** Where this package keeps its own state; default `workspace-authority` in the home. Absolute path. */
  readonly stateDirectory?: string;
  /** Where the host keeps its session logs, if it does not say so itself; default `sessions` in the home. Absolute path. */
  readonly sessionLogDirectory?: string;
  /**
   * `host` (default): whoever the host's own connection service lets in. `loopback`: for a host without that service, whoever calls from this
   * machine under a loopback name.
   */
  readonly authentication?: 'host' | 'loopback';
  /** Authorities beside the loopback names that may stand in `Host`, e.g. `box.example:3000`. */
  readonly allowedHosts?: readonly string[];
  /** Authorities that a proxy on this machine may speak for. */
  readonly trustedProxyHosts?: readonly string[];
  /** Default `auto`. */
  readonly prover?: 'auto' | 'nodegit' | 'git';
  /** Seconds between two fetches from `origin` of what is looked at, 10 or more; default: none but those that are asked for. */
  readonly fetchEverySeconds?: number;
  /** How Git may reach other machines; default https and ssh. `file` starts Git in whatever directory a repository names as its remote. */
  readonly protocols?: readonly NetworkProtocol[];
  /** The socket of the agent that has the keys, and the file of the hosts that are believed. Without both, ssh reaches nobody. Absolute paths. */
  readonly sshAuthenticationSocket?: string;
  readonly sshKnownHostsFile?: string;
  /** Absolute path of a program that answers as gitcredentials(7) says. */
  readonly credentialHelper?: string;
}

/** The part of Standard Schema (version 1) that Cordis calls. */
export interface ConfigSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => { readonly value: PluginConfig } | { readonly issues: readonly ConfigIssue[] };
  };
}

export interface ConfigIssue {
  readonly message: string;
  readonly path?: readonly string[];
}

const checks: Readonly<
  Record<keyof PluginConfig, readonly [expected: string, accepts: (value: unknown) => boolean]>
> = {
  home: ['an absolute path', isAbsolutePath],
  stateDirectory: ['an absolute path', isAbsolutePath],
  sessionLogDirectory: ['an absolute path', isAbsolutePath],
  authentication: ['host or loopback', oneOf('host', 'loopback')],
  allowedHosts: ['a list of host names', isListOfTexts],
  trustedProxyHosts: ['a list of host names', isListOfTexts],
  prover: ['auto, nodegit or git', oneOf('auto', 'nodegit', 'git')],
  protocols: ['a list of https, ssh, http, git and file', isListOfProtocols],
  sshAuthenticationSocket: ['a plain absolute path', isPlainPath],
  sshKnownHostsFile: ['a plain absolute path', isPlainPath],
  credentialHelper: ['a plain absolute path', isPlainPath],
  fetchEverySeconds: ['a number of seconds from 10 to 999999', isSeconds],
};

/** Refuses what it does not know: a misspelled restriction would be no restriction. */
export const configSchema: ConfigSchema = {
  '~standard': {
    version: 1,
    vendor: 'workspace-authority',
    validate: (value) => {
      if (value === undefined || value === null) return { value: {} };
      if (typeof value !== 'object' || Array.isArray(value)) return { issues: [{ message: 'is no object' }] };
      const issues = Object.entries(value).flatMap(([name, given]): readonly ConfigIssue[] => {
        if (!Object.hasOwn(checks, name)) return [{ message: 'is no setting', path: [name] }];
        const [expected, accepts] = checks[name as keyof PluginConfig];
        return accepts(given) ? [] : [{ message: `is not ${expected}`, path: [name] }];
      });
      if (issues.length > 0) return { issues };
      const { sshAuthenticationSocket, sshKnownHostsFile }: PluginConfig = value;
      if ((sshAuthenticationSocket === undefined) !== (sshKnownHostsFile === undefined)) {
        const path = [sshKnownHostsFile === undefined ? 'sshKnownHostsFile' : 'sshAuthenticationSocket'];
        return { issues: [{ message: 'is missing beside the other ssh setting', path }] };
      }
      return { value };
    },
  },
};

function isAbsolutePath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/') && !value.includes('\0');
}

/** Git hands some of them to a shell. */
function isPlainPath(value: unknown): boolean {
  return typeof value === 'string' && /^\/[\w./@+-]+$/.test(value);
}

function isListOfProtocols(value: unknown): boolean {
  return Array.isArray(value) && value.every(oneOf('https', 'ssh', 'http', 'git', 'file'));
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
}

function isSeconds(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 10 && value <= 999_999;
}

function oneOf(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => allowed.includes(value as string);
}
