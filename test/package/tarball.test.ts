import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import { projectRoot } from './machine.ts';

const prebuilds = `prebuilds/workspace_authority-linux-${process.arch}`;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

let directory: string;
let consumer: string;
let installed: string;
let packed: Packed;

/** What the outer npm tells its scripts must not steer the npm runs below. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(package_|lifecycle_|command|config_local_prefix)/.test(name),
  ),
);

function npm(cwd: string, ...args: string[]): string {
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  return execFileSync('npm', [...args, ...quiet], { cwd, env: environment, encoding: 'utf8' });
}

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' });
}

beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'wa-package-')));
  [packed] = JSON.parse(npm(projectRoot, 'pack', '--json', '--pack-destination', directory)) as [Packed];
  consumer = join(directory, 'consumer');
  installed = join(consumer, 'node_modules/workspace-authority');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{ "private": true, "type": "module" }');
  npm(consumer, 'install', '--ignore-scripts', join(directory, packed.filename));
}, 600_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the tarball', () => {
  const paths = () => packed.files.map(({ path }) => path);

  it.each([
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'CMakeLists.txt',
    'binding.gyp',
    'binding-options.cjs',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/cli/main.js',
    'native/sources.txt',
    'native/module.cc',
    'scripts/nodegit.mjs',
    'scripts/nodegit.d.mts',
    'scripts/nodegit/smoke.cjs',
    'src/proof/nodegit-child.mjs',
    'vendor/nodegit/package.json',
    'vendor/nodegit/package-lock.json',
    `${prebuilds}/node-napi-v8.node`,
    `${prebuilds}/death-guard`,
  ])('holds %s', (path) => {
    expect(paths()).toContain(path);
  });

  it('holds nothing that only development needs, and no built file but the prebuilt ones', () => {
    const wanted = /^(dist|src|native|prebuilds|vendor\/nodegit|scripts)\/|^[^/]+$/;
    const built = paths().filter((path) => /\.node$|\/death-guard$/.test(path));
    expect(paths().filter((path) => !wanted.test(path))).toEqual([]);
    expect(paths().filter((path) => /\.test\.|^scripts\/(ci|setup)/.test(path))).toEqual([]);
    expect(built.filter((path) => !path.startsWith(`${prebuilds}/`))).toEqual([]);
  });

  it('brings the lock of nodegit with a digest for each package and the name of no registry', () => {
    const text = readFileSync(join(installed, 'vendor/nodegit/package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as {
      packages: Record<string, { integrity?: string; resolved?: string }>;
    };
    const fetched = Object.entries(packages).filter(([name]) => name !== '');
    expect(fetched.length).toBeGreaterThan(100);
    expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(fetched.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

describe('an installation whose install scripts are blocked', () => {
  it('has the prebuilt addon, without the fail points of the test build, and an executable death guard', () => {
    const addon = join(installed, prebuilds, 'node-napi-v8.node');
    const program = 'console.log(JSON.stringify(Object.getOwnPropertyNames(require(process.argv[1]))))';
    const names = JSON.parse(node('-e', program, addon)) as string[];
    expect(names).toContain('openRoot');
    for (const name of ['setFault', 'faultTrace', 'rawOpenat2']) expect(names).not.toContain(name);
    expect(statSync(join(installed, prebuilds, 'death-guard')).mode & 0o111).toBe(0o111);
    expect(existsSync(join(installed, 'build'))).toBe(false);
  });

  it('works as an ES module: reads a registered directory and refuses another, through the prebuilt addon', () => {
    const state = join(directory, 'state');
    const workspace = join(directory, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'note.txt'), 'hello\n');
    chmodSync(workspace, 0o755);
    writeFileSync(
      join(consumer, 'use.mjs'),
      `import { createService, parseBeneathPath } from 'workspace-authority';
       import * as http from 'workspace-authority/http';
       import * as native from 'workspace-authority/native';
       const [state, workspace, outside] = process.argv.slice(2);
       const service = await createService({ stateDirectory: state });
       await service.workspaces.add(workspace);
       const capability = await service.authority.authorize(workspace);
       const file = await service.files.read(capability, parseBeneathPath('note.txt'));
       const refusal = await service.authority.authorize(outside).then(() => 'none', (error) => error.code);
       await capability[Symbol.asyncDispose]();
       await service.close();
       const addon = process.report.getReport().sharedObjects.find((path) => path.endsWith('.node'));
       const entries = [typeof http.createApp, typeof http.createRouter, Object.keys(native).length > 0];
       console.log(JSON.stringify({ text: Buffer.from(file.bytes).toString(), refusal, addon, entries }));`,
    );
    const answer = JSON.parse(node('use.mjs', state, workspace, consumer)) as Record<string, unknown>;
    expect(answer).toEqual({
      text: 'hello\n',
      refusal: 'workspace_not_authorized',
      addon: join(installed, prebuilds, 'node-napi-v8.node'),
      entries: ['function', 'function', true],
    });
  });

  it('has types that a strict TypeScript project compiles with', () => {
    writeFileSync(
      join(consumer, 'use.ts'),
      `import { createService, parseBeneathPath, type Service } from 'workspace-authority';
       import { createApp } from 'workspace-authority/http';
       import * as native from 'workspace-authority/native';
       export async function firstBytes(directory: string): Promise<number> {
         await using service: Service = await createService({});
         await using workspace = await service.authority.authorize(directory);
         const file = await service.files.read(workspace, parseBeneathPath('a'));
         return file.bytes.byteLength;
       }
       export const rooms: readonly unknown[] = [createApp, native];
       // @ts-expect-error a directory is no capability
       export const wrong = async (service: Service) => service.files.read('/etc', parseBeneathPath('passwd'));`,
    );
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(projectRoot, 'node_modules/@types')],
    };
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc');
    let output = '';
    try {
      node(tsc, '-p', 'tsconfig.json');
    } catch (error) {
      output = (error as { stdout: string }).stdout;
    }
    expect(output).toBe('');
  });

  it('finds the nodegit that was built from the same private install root', () => {
    const command = join(installed, 'dist/cli/main.js');
    const state = JSON.parse(node(command, 'setup', '--json')) as Record<string, unknown>;
    expect(state).toEqual({ ok: true, ...nodegitState() });
    expect(state['state']).toBe('ready');
  });

  it('has a lock file with which npm ci installs it again, and a command', () => {
    npm(consumer, 'ci', '--ignore-scripts');
    const version = node(join(consumer, 'node_modules/.bin/workspace-authority'), '--version');
    expect(version.trim()).toMatch(/^\d+\.\d+\.\d+/);
  });
});
