import { isAbsolute } from 'node:path/posix';

export type NetworkProtocol = 'https' | 'ssh' | 'http' | 'git' | 'file';

/** What the operator lets Git use to reach another machine. Nothing of it comes from a repository. */
export interface NetworkAccess {
  /**
   * Default: https and ssh. `file` starts Git, and the hooks there, in whatever directory a repository names as its remote: only for
   * hosts where every repository is trusted.
   */
  readonly protocols?: readonly NetworkProtocol[];
  /** Without it ssh knows no host and has no key. Both are absolute paths. */
  readonly ssh?: { readonly authenticationSocket: string; readonly knownHostsFile: string };
  /** Absolute path of a program that answers as gitcredentials(7) says. */
  readonly credentialHelper?: string;
}

const defaultProtocols: readonly NetworkProtocol[] = ['https', 'ssh'];

/** @throws TypeError when a path could be more than a path to the shell that Git runs it with */
export function assertNetworkAccess({ ssh, credentialHelper }: NetworkAccess): void {
  for (const path of [ssh?.authenticationSocket, ssh?.knownHostsFile, credentialHelper]) {
    if (path === undefined) continue;
    if (!isAbsolute(path) || !/^[\w./@+-]+$/.test(path)) throw new TypeError('not a plain absolute path');
  }
}

/** ssh asks nobody, reads no configuration, and believes only the given file of hosts (ssh_config(5)). */
export function networkSettings({ ssh, credentialHelper }: NetworkAccess): readonly string[] {
  const hosts = ssh?.knownHostsFile ?? '/dev/null';
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${hosts}`,
    'GlobalKnownHostsFile=/dev/null',
    'ForwardAgent=no',
  ];
  return [
    `core.sshCommand=ssh -F /dev/null ${options.map((option) => `-o ${option}`).join(' ')}`,
    ...(credentialHelper === undefined ? [] : [`credential.helper=${credentialHelper}`]),
  ];
}

export function networkEnvironment({
  protocols = defaultProtocols,
  ssh,
}: NetworkAccess): Record<string, string> {
  return {
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    GIT_SSH_VARIANT: 'ssh',
    ...(ssh === undefined ? {} : { SSH_AUTH_SOCK: ssh.authenticationSocket }),
  };
}
