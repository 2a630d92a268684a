import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { link, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Forge } from '../../src/forge/forge.ts';
import type { DirectoryHandle, NativeBinding } from '../../src/native/binding.ts';
import { createService } from '../../src/service/create-service.ts';
import type { Service } from '../../src/service.ts';
import { type RunningServer, type StartOptions, startServer } from './http-server.ts';
import { testBinding } from './test-binding.ts';

const run = promisify(execFile);

/** The places the case files speak of, on a real disk behind a real service and a real server. */
export interface HttpLab extends AsyncDisposable {
  /** Holds everything below. */
  readonly sandbox: string;
  /** A registered repository with `tracked.txt` committed. */
  readonly repo: string;
  /** A registered plain directory inside the repository. */
  readonly nested: string;
  readonly plain: string;
  /** A repository that is not registered. */
  readonly outside: string;
  /** Where this package keeps managed worktrees. */
  readonly managedRoot: string;
  /** Where the existing plugin keeps them. */
  readonly pluginRoot: string;
  readonly service: Service;
  readonly server: RunningServer;
  /** Puts the files of the places back; what a test added stays. */
  reset(): Promise<void>;
}

export interface HttpLabOptions {
  readonly app?: StartOptions;
  /** Changes each root directory handle after it was opened. */
  readonly onRoot?: (handle: DirectoryHandle) => void;
  /** What the addon reports of the kernel, instead of what it finds. The places are then not registered. */
  readonly probe?: NativeBinding['probe'];
  readonly forge?: Forge;
}

export async function createHttpLab(options: HttpLabOptions = {}): Promise<HttpLab> {
  const sandbox = await realpath(await mkdtemp(join(tmpdir(), 'wa-http-')));
  const [repo, plain, outside] = ['repo', 'plain', 'outside'].map((name) => join(sandbox, name)) as [
    string,
    string,
    string,
  ];
  const nested = join(repo, 'nested');
  await Promise.all([makeRepository(repo), makeRepository(outside), mkdir(plain)]);
  await mkdir(nested);
  const binding: NativeBinding = {
    probe: options.probe ?? (() => testBinding.probe()),
    createGuard: (root, rules) => testBinding.createGuard(root, rules),
    openHandles: () => testBinding.openHandles(),
    openRoot: async (path, rootOptions) => {
      const handle = await testBinding.openRoot(path, rootOptions);
      options.onRoot?.(handle);
      return handle;
    },
  };
  const stateDirectory = join(sandbox, 'state');
  const home = join(sandbox, 'home');
  await mkdir(home);
  await writeFile(join(home, '.gitconfig'), '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  const [managedRoot, pluginRoot] = [join(stateDirectory, 'worktrees'), join(home, 'worktrees')];
  const service = await createService({
    stateDirectory,
    prover: 'git',
    binding,
    home,
    network: { protocols: ['file'] },
    forge: options.forge ?? null,
    managedRoots: [
      { path: managedRoot, scheme: 'authority' },
      { path: pluginRoot, scheme: 'plugin' },
    ],
  });
  const registered = options.probe === undefined ? [repo, nested, plain] : [];
  for (const path of registered) await service.workspaces?.add(path);
  const server = await startServer(service, options.app);
  const lab: HttpLab = {
    sandbox,
    repo,
    nested,
    plain,
    outside,
    managedRoot,
    pluginRoot,
    service,
    server,
    reset: () => fillPlaces(lab),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await service.close();
      await rm(sandbox, { recursive: true, force: true });
    },
  };
  await fillPlaces(lab);
  return lab;
}

export async function git(directory: string, ...words: readonly string[]): Promise<string> {
  const environment = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const { stdout } = await run('git', ['-C', directory, ...words], { env: environment });
  return stdout;
}

export async function makeRepository(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await git(path, 'init', '-q', '-b', 'main');
  await writeFile(join(path, 'tracked.txt'), 'one\n');
  await git(path, 'add', '.');
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
  await git(path, ...identity, 'commit', '-q', '-m', 'first');
}

export async function sha1Of(path: string): Promise<string> {
  return createHash('sha1')
    .update(await readFile(path))
    .digest('hex');
}

export async function etagOf(path: string): Promise<string> {
  const digest = createHash('sha256').update(await readFile(path));
  return `"sha256-${digest.digest('base64url')}"`;
}

/** Replaces whatever stands under the name. */
export async function put(path: string, content: string | Buffer): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await writeFile(path, content);
}

export async function putLink(target: string, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await symlink(target, path);
}

async function fillPlaces({ sandbox, repo, plain, outside }: HttpLab): Promise<void> {
  const external = join(sandbox, 'external');
  await mkdir(external, { recursive: true });
  await put(join(external, 'external.txt'), 'outside-secret\n');
  await put(join(sandbox, 'shared.txt'), 'shared-before\n');
  for (const root of [repo, outside]) await put(join(root, 'tracked.txt'), 'one\n');
  await put(join(repo, 'editable.txt'), 'one\n');
  await put(join(plain, 'a.txt'), 'one\n');
  await putLink(join(external, 'external.txt'), join(repo, 'leak.txt'));
  await putLink(external, join(repo, 'outside-dir'));
  await putLink('.git/config', join(repo, 'git-config-alias'));
  await rm(join(repo, 'inside-hard.txt'), { force: true });
  await link(join(sandbox, 'shared.txt'), join(repo, 'inside-hard.txt'));
}
