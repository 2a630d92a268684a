/** Which programs a build needs, which Debian package brings each, and the exact command to get them. */
import { spawnSync } from 'node:child_process';
import { findProgram } from './host.mjs';

const addonTools = [
  { anyOf: ['c++', 'g++', 'clang++'], debianPackage: 'g++' },
  { anyOf: ['cmake'], debianPackage: 'cmake' },
  { anyOf: ['ninja', 'make'], debianPackage: 'make' },
];
const nodegitTools = [
  { anyOf: ['c++', 'g++', 'clang++'], debianPackage: 'g++' },
  { anyOf: ['make'], debianPackage: 'make' },
  { anyOf: ['python3'], debianPackage: 'python3' },
  { anyOf: ['krb5-config'], debianPackage: 'libkrb5-dev' },
];

/** Debian packages without which the addon cannot be compiled. */
export const missingForAddon = () => missing(addonTools);
/** Debian packages without which nodegit cannot be compiled. */
export const missingForNodegit = () => missing(nodegitTools);

function missing(tools) {
  return tools.filter(({ anyOf }) => !anyOf.some(findProgram)).map(({ debianPackage }) => debianPackage);
}

/** The command that installs `packages`, as a person would type it. */
export function installCommand(packages) {
  const sudo = process.getuid?.() === 0 ? '' : 'sudo ';
  const install = `${sudo}apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  return `${sudo}apt-get update && ${install}`;
}

/** System packages are installed only when asked for, or on a machine that calls itself CI. */
export function mayInstallSystemPackages(argv = process.argv) {
  return argv.includes('--install-system-packages') || process.env.CI === 'true';
}

/** Runs apt-get for `packages`; returns whether it could. Never asks for a password. */
export function installSystemPackages(packages) {
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const aptGet = (...args) => {
    const [program, ...rest] = [...prefix, 'apt-get', ...args];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync(program, rest, { stdio: ['ignore', 'inherit', 'inherit'], env }).status === 0;
  };
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  // The lists may be fresh enough; asking for them first costs seconds that are mostly not needed.
  return aptGet(...install) || (aptGet('update') && aptGet(...install));
}
