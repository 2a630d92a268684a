/**
 * The cache entry that holds a built nodegit: its name, and the checks it must pass before anything is
 * loaded from it. It is native code, so it is used only while nobody but this user (or root) could have
 * put it there, and only while every byte is the one that was built.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheRoot, libcVersion } from '../host.mjs';

const schema = 1;
/** The two files that make the private install root. */
export const installRoot = join(import.meta.dirname, '../../vendor/nodegit');

let ingredients;
/** Everything that decides whether a built nodegit fits this Node on this machine. */
export function keyIngredients() {
  ingredients ??= readIngredients();
  return ingredients;
}

function readIngredients() {
  const lock = readFileSync(join(installRoot, 'package-lock.json'));
  const { packages } = JSON.parse(lock);
  const nan = packages['node_modules/nan'];
  return {
    schema,
    nodegit: packages['node_modules/nodegit'].version,
    lock: createHash('sha256').update(lock).digest('hex'),
    nan: `${nan.name}@${nan.version} ${nan.integrity}`,
    abi: process.versions.modules,
    arch: process.arch,
    platform: process.platform,
    libc: libcVersion(),
    // nodegit takes its OpenSSL symbols from the Node program itself.
    openssl: process.versions.openssl.split('.')[0],
  };
}

/** The places of this machine's entry: the directory, and its lock, state and log beside it. */
export function entryPaths() {
  const root = cacheRoot();
  const key = createHash('sha256').update(JSON.stringify(keyIngredients())).digest('hex').slice(0, 32);
  const directory = join(root, key);
  return {
    root,
    key,
    directory,
    nodegit: join(directory, 'node_modules/nodegit'),
    binary: join(directory, 'node_modules/nodegit/build/Release/nodegit.node'),
    meta: join(directory, 'meta.json'),
    lock: `${directory}.lock`,
    state: `${directory}.state.json`,
    log: `${directory}.log`,
  };
}

/** An entry that must not be used. `unsafe`: somebody else could have written it, so it is left alone. */
export class UnusableEntry extends Error {
  constructor(message, { unsafe = false } = {}) {
    super(message);
    this.unsafe = unsafe;
  }
}

/** Refuses `path` unless only this user can change it. */
function assertPrivate(path, stat) {
  const foreign = stat.uid !== process.getuid();
  if (!foreign && (stat.mode & 0o022) === 0) return;
  const why = foreign ? `belongs to user ${stat.uid}` : 'is writable by its group or by others';
  throw new UnusableEntry(`${path} ${why}`, { unsafe: true });
}

/** Refuses a cache in a place where another user could exchange a directory above it. */
export function assertPrivateRoot(root) {
  assertPrivate(root, lstatSync(root));
  for (let path = dirname(root); ; path = dirname(path)) {
    const { uid, gid, mode } = lstatSync(path);
    const sticky = (mode & 0o1000) !== 0;
    const byOthers = (mode & 0o002) !== 0 && !sticky;
    // A user's private group is that user; any other group is other people.
    const byGroup = (mode & 0o020) !== 0 && !sticky && gid !== 0 && gid !== process.getgid();
    if ((uid !== 0 && uid !== process.getuid()) || byOthers || byGroup) {
      throw new UnusableEntry(`${path} (above the cache) can be changed by another user`, { unsafe: true });
    }
    if (path === dirname(path)) return;
  }
}

/** Every regular file beneath `directory`, sorted; refuses links, devices and what others can write. */
function privateFiles(directory, prefix = '') {
  const stat = lstatSync(directory);
  if (!stat.isDirectory()) throw new UnusableEntry(`${directory} is not a directory`);
  assertPrivate(directory, stat);
  const found = [];
  for (const name of readdirSync(directory).sort()) {
    const path = join(directory, name);
    const item = lstatSync(path);
    if (item.isDirectory()) {
      found.push(...privateFiles(path, `${prefix}${name}/`));
      continue;
    }
    if (!item.isFile()) throw new UnusableEntry(`${path} is not a regular file`);
    assertPrivate(path, item);
    found.push(`${prefix}${name}`);
  }
  return found;
}

/** One digest for names and contents of everything beneath `directory`. */
export function treeDigest(directory) {
  const digest = createHash('sha256');
  for (const name of privateFiles(directory)) {
    const content = createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
    digest.update(`${name}\0${content}\n`);
  }
  return digest.digest('hex');
}

const checked = new Map();
/** Throws `UnusableEntry` unless the entry may be loaded. Every byte is read once; later calls only stat. */
export function assertUsable(paths) {
  assertPrivateRoot(paths.root);
  const signature = [paths.directory, paths.meta, paths.binary]
    .map((path) => {
      const { ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
      return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
    })
    .join('\n');
  if (checked.get(paths.directory) === signature) return;
  const tree = treeDigest(join(paths.directory, 'node_modules'));
  assertPrivate(paths.directory, lstatSync(paths.directory));
  assertPrivate(paths.meta, lstatSync(paths.meta));
  const meta = readMeta(paths.meta);
  if (meta.key !== paths.key) throw new UnusableEntry(`${paths.meta} belongs to another entry`);
  if (meta.tree !== tree) throw new UnusableEntry(`${paths.directory} differs from what was built`);
  checked.set(paths.directory, signature);
}

function readMeta(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new UnusableEntry(`${path} cannot be read: ${cause.message}`);
  }
}
