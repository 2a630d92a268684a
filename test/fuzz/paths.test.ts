import { readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { openWorkspace, text, type Workspace } from '../support/files-workspace.ts';
import { isClosedName, type Node, parseOutcome, TreeModel, type Walk } from './path-model.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const numRuns = Number(process.env['WORKSPACE_AUTHORITY_RUNS'] ?? (long ? 100_000 : 3000));
const seed = Number(process.env['WORKSPACE_AUTHORITY_SEED'] ?? Date.now() % 0x7fff_ffff);

const secret = 'SECRET';
const lines = [
  'f: content of f',
  'd/f: content of d/f',
  'd/e/f: content of d/e/f',
  'd/e/up -> ../../f',
  'd/side -> e',
  'p |',
  'in -> d/f',
  'in-dir -> d/e',
  'abs -> $ROOT/d',
  'abs-f -> $ROOT/d/e/f',
  'self -> .',
  'over -> d/../f',
  'out -> $OUT/secret',
  'out-dir -> $OUT',
  'climb -> ../outside',
  'return -> ../root/f',
  'broken -> nothing/at/all',
  'loop -> loop',
  'magic -> /proc/self/root',
  'git-link -> .git/config',
  'shape-link -> bare',
  '.git/config: [core]',
  'bare/HEAD: x',
  'bare/objects/',
  'bare/refs/',
  '..t: content of ..t',
];

const tokens = [
  ...[
    'f',
    'd',
    'e',
    'p',
    'up',
    'side',
    'in',
    'in-dir',
    'abs',
    'abs-f',
    'self',
    'over',
    'out',
    'out-dir',
    'secret',
  ],
  ...[
    'climb',
    'return',
    'broken',
    'loop',
    'magic',
    'git-link',
    'shape-link',
    'bare',
    'HEAD',
    'refs',
    'config',
    'new',
  ],
  ...[
    '..',
    '..',
    '.',
    '',
    '...',
    '..t',
    '.git',
    '.GIT',
    'git~1',
    '.git ',
    '.g\u200cit',
    '.git::$DATA',
    '.gitignore',
  ],
  ...['\0', '\ud800', 'ü', '日本', '%2e%2e', '~', '-', ' ', '\\', '*', 'n'.repeat(255), 'n'.repeat(256)],
  `.wa-${'0'.repeat(32)}.x.tmp`,
];

const pathTokens = fc.tuple(
  fc.constantFrom('', '', '', '', '/', './', '../'),
  fc.array(fc.constantFrom(...tokens), { minLength: 0, maxLength: 6 }),
  fc.constantFrom('', '', '', '', '/', '/.'),
);
const operationNames = [
  'read',
  'read',
  'read',
  'open',
  'list',
  'replace',
  'create',
  'remove',
  'from',
  'to',
  'mkdir',
  'rmdir',
] as const;
type Operation = (typeof operationNames)[number];

it(`R10, R11, R12: no spelling of a path does anything that the model does not allow (seed ${seed}, ${numRuns} runs)`, async () => {
  const workspace = await openWorkspace({ tree: lines, outside: [`secret: ${secret}`] });
  const model = modelOf(workspace);
  const before = await workspace.tree();
  const property = fc.asyncProperty(
    pathTokens,
    fc.constantFrom(...operationNames),
    async ([start, middle, end], operation) => {
      const path = `${start}${middle.join('/')}${end}`;
      const allowed = allowedOutcomes(model, operation, path);
      const outcome = await outcomeOf(workspace, operation, path);
      expect(allowed, `${operation} ${JSON.stringify(path)}`).toContain(outcome);
    },
  );
  await fc.assert(property, { numRuns, seed, endOnFailure: false });
  expect(await workspace.tree()).toEqual(before);
  expect(await readFile(join(workspace.outside, 'secret'), 'utf8')).toBe(secret);
});

function modelOf({ root, outside }: Workspace): TreeModel {
  const nodes: Record<string, Node> = {};
  for (const line of lines) {
    const [link, target] = line.split(' -> ');
    const [path, content] = line.split(': ');
    if (target !== undefined) {
      nodes[link as string] = {
        type: 'link',
        target: target.replace('$ROOT', root).replace('$OUT', outside),
      };
    } else if (content !== undefined) nodes[path as string] = { type: 'file', content };
    else if (line.endsWith('/')) nodes[line.slice(0, -1)] = { type: 'directory' };
    else nodes[line.slice(0, -2)] = { type: 'other' };
  }
  for (const directory of ['d', 'd/e', '.git']) nodes[directory] = { type: 'directory' };
  nodes['bare'] = { type: 'directory', closed: true };
  return new TreeModel(root, nodes);
}

function allowedOutcomes(model: TreeModel, operation: Operation, path: string): readonly string[] {
  const parsed = parseOutcome(path);
  if (parsed !== null) return [parsed];
  // `to` moves `f`, and nothing moves into itself.
  if (operation === 'to' && path.startsWith('f/')) return ['invalid_path'];
  if (path.split('/').some(isClosedName)) return ['administrative_path'];
  const reads = operation === 'read' || operation === 'open' || operation === 'list';
  return reads ? readOutcomes(operation, model.walk(path, true)) : changeOutcomes(model, operation, path);
}

/**
 * A closed directory itself may also be refused for being no file, before its shape is looked at; and a link that leads on below
 * something closed, for leading nowhere.
 */
const closedOutcomes = ['administrative_path', 'not_regular_file', 'already_exists'];

function readOutcomes(operation: Operation, { end, links, content }: Walk): readonly string[] {
  const list = operation === 'list';
  switch (end) {
    case 'file':
      return list ? ['not_directory'] : [`=${content}`];
    case 'directory':
      return list ? ['ok'] : ['not_regular_file'];
    case 'other':
      return list ? ['not_directory'] : ['not_regular_file'];
    case 'outside':
      return ['path_outside_workspace'];
    case 'closed':
      return links ? [...closedOutcomes, 'not_found'] : closedOutcomes;
    default:
      return ['not_found'];
  }
}

/** A change meets links only to be refused; which refusal it is depends on where the links lead. */
function changeOutcomes(model: TreeModel, operation: Operation, path: string): readonly string[] {
  const movesItself = operation === 'from';
  const slash = path.lastIndexOf('/');
  const parent = slash === -1 ? '' : path.slice(0, slash);
  const through = movesItself ? model.walk(parent, true) : model.walk(path, true);
  if (through.links) {
    if (through.end === 'outside') return ['path_outside_workspace'];
    if (through.end === 'closed') return [...closedOutcomes, 'symlink_not_writable'];
    return ['symlink_not_writable'];
  }
  const walk = model.walk(path, false);
  if (walk.end === 'closed') return closedOutcomes;
  const above = model.walk(parent, true).end;
  if (above === 'closed') return ['administrative_path'];
  if (above !== 'directory') return ['not_found'];
  const outcomes: Readonly<
    Record<string, readonly [missing: string, file: string, directory: string, other: string]>
  > = {
    replace: ['not_found', 'conflict', 'not_regular_file', 'not_regular_file'],
    remove: ['not_found', 'conflict', 'not_regular_file', 'not_regular_file'],
    create: ['ok', 'already_exists', 'already_exists', 'already_exists'],
    mkdir: ['ok', 'already_exists', 'already_exists', 'already_exists'],
    to: ['ok', 'already_exists', 'already_exists', 'already_exists'],
    rmdir: ['not_found', 'not_directory', 'directory_not_empty', 'not_directory'],
    from: ['not_found', 'ok', 'ok', 'ok'],
  };
  const [missing, file, directory, other] = outcomes[operation] ?? ['', '', '', ''];
  const expected = { missing, file, directory, other, outside: '', loop: '', closed: '' }[walk.end];
  return [expected];
}

/** Runs an operation that can succeed only in ways that are undone here. */
async function outcomeOf(workspace: Workspace, operation: Operation, path: string): Promise<string> {
  const { files, capability, root } = workspace;
  const stale = { sha1: '0'.repeat(40) };
  try {
    const target = parseBeneathPath(path);
    switch (operation) {
      case 'read':
        return `=${Buffer.from((await files.read(capability, target)).bytes)}`;
      case 'open': {
        using file = await files.open(capability, target);
        return `=${Buffer.from(await file.readAt(0, 100))}`;
      }
      case 'list':
        await files.list(capability, target);
        return 'ok';
      case 'replace':
        await files.replace(capability, target, text('x'), stale);
        return 'ok';
      case 'remove':
        await files.remove(capability, target, stale);
        return 'ok';
      case 'create':
        await files.create(capability, target, text('x'));
        await rm(join(root, path));
        return 'ok';
      case 'mkdir':
        await files.makeDirectory(capability, target);
        await rmdir(join(root, path));
        return 'ok';
      case 'rmdir':
        await files.removeDirectory(capability, target);
        return 'ok';
      case 'from':
        await files.rename(capability, target, parseBeneathPath('moved'));
        await rename(join(root, 'moved'), join(root, path));
        return 'ok';
      case 'to':
        await files.rename(capability, parseBeneathPath('f'), target);
        await rename(join(root, path), join(root, 'f'));
        return 'ok';
    }
  } catch (error) {
    if (isAuthorityError(error)) return error.code;
    throw error;
  }
}
