/** Facts about this machine that set-up needs. Node built-ins only: it runs before anything is installed. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

/** Where this user's caches live (XDG Base Directory: a relative XDG_CACHE_HOME is to be ignored). */
export function cacheRoot() {
  const xdg = process.env.XDG_CACHE_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.cache'), 'workspace-authority');
}

/** The full path of a program on PATH, or undefined. */
export function findProgram(name) {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(directory, name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not here: look in the next directory.
    }
  }
  return undefined;
}

let libc;
/** The C library Node runs on, for example `glibc-2.36`: a compiled addon is good for no other. */
export function libcVersion() {
  libc ??= readLibcVersion();
  return libc;
}

function readLibcVersion() {
  // Without this the report asks the resolver for the name of every open connection's peer.
  process.report.excludeNetwork = true;
  const report = process.report.getReport();
  const glibc = report.header.glibcVersionRuntime;
  if (glibc) return `glibc-${glibc}`;
  const loader = report.sharedObjects.find((path) => /\/(ld|libc\.)-?musl/.test(path));
  if (!loader) return 'unknown';
  // musl's loader prints its version on standard error when it is run without a program.
  const version = /Version (\S+)/.exec(spawnSync(loader, { encoding: 'utf8' }).stderr ?? '');
  return `musl-${version?.[1] ?? 'unknown'}`;
}

/**
 * The directory whose include/node holds the headers of exactly this Node, or undefined. Without it
 * node-gyp downloads headers, which an offline machine cannot.
 */
export function nodeHeadersDirectory() {
  const candidates = [process.env.npm_config_nodedir, dirname(dirname(process.execPath))];
  return candidates.find((directory) => directory && headersVersion(directory) === process.versions.node);
}

function headersVersion(directory) {
  const header = join(directory, 'include/node/node_version.h');
  if (!existsSync(header)) return undefined;
  const text = readFileSync(header, 'utf8');
  const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1];
  return `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`;
}

/** How to run npm without a shell: [program, ...leading arguments]. */
export function npmCommand() {
  const prefix = dirname(dirname(process.execPath));
  const candidates = [
    process.env.npm_execpath,
    join(prefix, 'lib/node_modules/npm/bin/npm-cli.js'),
    join(prefix, 'share/nodejs/npm/bin/npm-cli.js'),
  ];
  // npm_execpath may belong to pnpm or yarn, which do not know `ci` as we mean it.
  const cli = candidates.find((path) => path?.endsWith('npm-cli.js') && existsSync(path));
  return cli ? [process.execPath, cli] : ['npm'];
}

// What an outer npm run tells its scripts about itself would steer the inner npm: where it installs,
// what it leaves out, whether it only pretends.
const outerNpm =
  /^(NODE_ENV|NODE_OPTIONS|npm_(command|package_.*|lifecycle_.*|config_(global|prefix|local_prefix|omit|include|only|production|dry_run|ignore_scripts|package_lock.*|workspaces?|install_strategy|location)))$/i;

/** This process's environment without the parts that would steer an npm run inside it. */
export function environmentForNpm() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !outerNpm.test(name)));
}

/** A process as {pid, startTime, bootId}, which no later process can share, or undefined when it is gone. */
export function processIdentity(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the name in parentheses may hold anything, so count fields from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return { pid, startTime: fields[19], bootId };
  } catch {
    return undefined;
  }
}

/** Whether the process that `identity` was read from still runs. */
export function isAlive(identity) {
  const now = processIdentity(identity.pid);
  return now !== undefined && now.startTime === identity.startTime && now.bootId === identity.bootId;
}
