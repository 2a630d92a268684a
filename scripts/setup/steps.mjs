/** The steps that make a checkout ready, in order. Each says when it is fresh and how it is done. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { environmentForNpm, libcVersion, npmCommand } from '../host.mjs';
import {
  installCommand,
  installSystemPackages,
  mayInstallSystemPackages,
  missingForAddon,
} from '../system-packages.mjs';
import { digestOf, stamp } from './stamps.mjs';

/** A failure whose message is all that the reader needs: no stack. */
export class SetupFailure extends Error {}

/** The steps for the checkout at `root`; `testAddon` adds the addon's test variant. */
export function stepsFor(root, { testAddon, argv }) {
  const addon = (options) => addonStep(root, argv, options);
  return [
    dependenciesStep(root),
    // Elsewhere the package imports and answers platform_unsupported; there is nothing to compile.
    ...(process.platform === 'linux' ? [addon({ name: 'addon', out: 'build', flags: [] })] : []),
    ...(process.platform === 'linux' && testAddon
      ? [addon({ name: 'test-addon', out: 'build-test', flags: ['--CDWITH_FAULTS=ON'] })]
      : []),
    typescriptStep(root),
  ];
}

function dependenciesStep(root) {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides } =
    packageOf(root);
  const facts = { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides };
  // npm's own record of what it installed: a hand-run `npm ci --omit=...` changes it and nothing else.
  const files = ['package-lock.json', 'node_modules/.package-lock.json'];
  const machine = { node: process.versions.node, arch: process.arch, libc: libcVersion() };
  return {
    name: 'dependencies',
    stamp: stamp(root, 'dependencies', () => digestOf(root, files, { ...facts, ...machine })),
    perform() {
      // Without --include a NODE_ENV or an npmrc meant for production leaves the compiler out.
      const kinds = ['--include=dev', '--include=optional'];
      const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
      const command = [...npmCommand(), 'ci', '--ignore-scripts', ...kinds, ...quiet];
      run(root, command, 'npm ci failed', environmentForNpm());
    },
  };
}

function addonStep(root, argv, { name, out, flags }) {
  const products = ['workspace_authority.node', 'death-guard'].map((file) => `${out}/Release/${file}`);
  const inputs = ['CMakeLists.txt', 'native', ...products];
  const facts = () => ({
    flags,
    tools: lockedVersions(root, ['cmake-js', 'node-addon-api', 'node-api-headers']),
    binary: packageOf(root).binary,
    arch: process.arch,
    libc: libcVersion(),
  });
  return {
    name,
    stamp: stamp(root, name, () => digestOf(root, inputs, facts())),
    perform() {
      obtainCompiler(argv);
      removeForeignBuild(root, out);
      const cmakeJs = join(root, 'node_modules/cmake-js/bin/cmake-js');
      // `build` alone keeps the flags of an earlier configuration.
      for (const command of ['configure', 'build']) {
        run(root, [process.execPath, cmakeJs, command, '--out', out, ...flags], 'the addon does not compile');
      }
      const lacking = products.filter((product) => !existsSync(join(root, product)));
      if (lacking.length > 0) throw new SetupFailure(`the build left no ${lacking.join(' and no ')}`);
    },
  };
}

function obtainCompiler(argv) {
  const before = missingForAddon();
  if (before.length === 0) return;
  if (mayInstallSystemPackages(argv)) installSystemPackages(before);
  const missing = missingForAddon();
  if (missing.length > 0) {
    throw new SetupFailure(
      `the addon cannot be compiled without system packages; run:\n  ${installCommand(missing)}`,
    );
  }
}

/** CMake refuses a build directory that was configured for a checkout in another place. */
function removeForeignBuild(root, out) {
  const cache = join(root, out, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const home = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8'))?.[1];
  if (home !== realpathSync(root)) rmSync(join(root, out), { recursive: true, force: true });
}

function typescriptStep(root) {
  const inputs = ['src', 'tsconfig.json', 'tsconfig.build.json', 'dist'];
  return {
    name: 'typescript',
    stamp: stamp(root, 'typescript', () => digestOf(root, inputs, lockedVersions(root, ['typescript']))),
    perform() {
      // Compiled aside and exchanged at the end: no file of a deleted source stays behind, and a running
      // server that still loads from dist finds it whole.
      const [fresh, old] = ['dist.new', 'dist.old'].map((name) => join(root, name));
      for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true });
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const command = [process.execPath, tsc, '-p', 'tsconfig.build.json', '--outDir', fresh];
      run(root, command, 'the TypeScript does not compile');
      if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old);
      renameSync(fresh, join(root, 'dist'));
      rmSync(old, { recursive: true, force: true });
    },
  };
}

function packageOf(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function lockedVersions(root, names) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.fromEntries(names.map((name) => [name, packages[`node_modules/${name}`]?.version]));
}

/** Runs a tool in the checkout; what it prints is shown only when it fails. */
function run(root, [program, ...args], failure, env = process.env) {
  const child = spawnSync(program, args, { cwd: root, env, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (child.status === 0) return;
  process.stderr.write(`${child.stdout ?? ''}${child.stderr ?? ''}`);
  throw new SetupFailure(`${failure} (${child.error?.message ?? child.signal ?? `exit ${child.status}`})`);
}
