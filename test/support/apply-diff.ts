import { spawn } from 'node:child_process';
import { copyFile, rm, utimes } from 'node:fs/promises';
import type { DiffFile, DiffHunk } from '../../src/git/diff-file.ts';

/** Writes a diff back as a patch that Git understands, from nothing but its fields. Binary files have no lines and are left out. */
function patchOf(files: readonly DiffFile[]): Buffer {
  return Buffer.concat(files.filter(({ status }) => status !== 'binary').flatMap(sectionsOf));
}

function sectionsOf(file: DiffFile): Buffer[] {
  if (file.change !== 'type-changed') return [section(file, file.oldMode, file.newMode, file.hunks)];
  const isDeletion = (hunk: DiffHunk) => hunk.newStart === 0 && hunk.newCount === 0;
  return [
    section(file, file.oldMode, null, file.hunks.filter(isDeletion)),
    section(
      file,
      null,
      file.newMode,
      file.hunks.filter((hunk) => !isDeletion(hunk)),
    ),
  ];
}

function section(
  file: DiffFile,
  oldMode: string | null,
  newMode: string | null,
  hunks: readonly DiffHunk[],
): Buffer {
  const path = bytesOf(file.path, file.pathBase64);
  const oldPath = file.oldPath === null ? path : bytesOf(file.oldPath, file.oldPathBase64);
  const [oldName, newName] = [quote(`a/${oldPath}`), quote(`b/${path}`)];
  const lines = [`diff --git ${oldName} ${newName}`];
  if (oldMode === null) lines.push(`new file mode ${newMode}`);
  else if (newMode === null) lines.push(`deleted file mode ${oldMode}`);
  else if (oldMode !== newMode) lines.push(`old mode ${oldMode}`, `new mode ${newMode}`);
  if (file.oldPath !== null) {
    const verb = file.change === 'copied' ? 'copy' : 'rename';
    lines.push('similarity index 90%', `${verb} from ${quote(oldPath)}`, `${verb} to ${quote(path)}`);
  }
  if (hunks.length > 0) {
    lines.push(`--- ${oldMode === null ? '/dev/null' : oldName}`);
    lines.push(`+++ ${newMode === null ? '/dev/null' : newName}`);
  }
  const header = Buffer.from(`${lines.join('\n')}\n`, 'latin1');
  return Buffer.concat([header, ...hunks.flatMap(hunkOf)]);
}

const marks = { add: '+', del: '-', ctx: ' ', meta: '' };

function hunkOf({ oldStart, oldCount, newStart, newCount, lines }: DiffHunk): Buffer[] {
  return [
    Buffer.from(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@\n`),
    ...lines.map(({ type, content, base64 }) =>
      Buffer.from(`${marks[type]}${bytesOf(content, base64)}\n`, 'latin1'),
    ),
  ];
}

/** Latin-1, so that every byte is one character. */
function bytesOf(text: string, base64: string | undefined): string {
  const bytes = base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64');
  return bytes.toString('latin1');
}

/** In octal throughout, which Git reads as well as the letters it writes itself. */
function quote(name: string): string {
  const octal = (byte: string) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return `"${name.replace(/[^ !#-[\]-~]/g, octal)}"`;
}

/**
 * Applies the files to a tree, in an index of its own, and names the tree that comes out. Binary files, of which a diff shows nothing but that
 * they differ, come from the tree `to`.
 */
export async function applied(
  repository: string,
  from: string,
  files: readonly DiffFile[],
  to: string,
): Promise<string> {
  const binaries = files.filter(({ status }) => status === 'binary');
  const entries = binaries.length === 0 ? new Map<string, string>() : await entriesOf(repository, to);
  return inOwnIndex(repository, async (run) => {
    await run(['read-tree', from]);
    const patch = patchOf(files);
    if (patch.length > 0) await run(['apply', '--cached', '--whitespace=nowarn', '-'], patch);
    const changes = binaries.flatMap((file) => {
      const path = bytesOf(file.path, file.pathBase64);
      const gone = file.change === 'renamed' ? bytesOf(file.oldPath ?? '', file.oldPathBase64) : null;
      const entry = file.newMode === null ? absent(path) : entries.get(path);
      if (entry === undefined) throw new Error(`no ${path} in ${to}`);
      return gone === null ? [entry] : [absent(gone), entry];
    });
    if (changes.length > 0) await run(['update-index', '-z', '--index-info'], indexInfo(changes));
    return run(['write-tree']);
  });
}

/** The tree that index and files would be, were all of them committed; ignored files left out. */
export async function treeOfChanges(repository: string): Promise<string> {
  return inOwnIndex(repository, async (run, index) => {
    await copyFile(`${repository}/.git/index`, index);
    // Older than any file, so that Git looks into all of them (git's racy-git.txt).
    await utimes(index, 1, 1);
    await run(['add', '-A', '--', '.']);
    return run(['write-tree']);
  });
}

/** A tree in which one path, and all below it, is what it is in another. */
export async function treeWithPart(
  repository: string,
  from: string,
  to: string,
  part: string,
): Promise<string> {
  const isPart = (path: string) => path === part || path.startsWith(`${part}/`);
  const [others, own] = [await entriesOf(repository, from), await entriesOf(repository, to)];
  const kept = [
    ...[...others].filter(([path]) => !isPart(path)),
    ...[...own].filter(([path]) => isPart(path)),
  ];
  return inOwnIndex(repository, async (run) => {
    await run(['update-index', '-z', '--index-info'], indexInfo(kept.map(([, entry]) => entry)));
    return run(['write-tree']);
  });
}

/** What git-update-index(1) takes with `--index-info`, by path. */
async function entriesOf(repository: string, tree: string): Promise<Map<string, string>> {
  const listed = await inOwnIndex(repository, (run) => run(['ls-tree', '-r', '-z', '--full-tree', tree]));
  const entries = listed.split('\0').filter((entry) => entry !== '');
  return new Map(entries.map((entry) => [entry.slice(entry.indexOf('\t') + 1), entry]));
}

const absent = (path: string) => `0 ${'0'.repeat(40)}\t${path}`;

function indexInfo(entries: readonly string[]): Buffer {
  return Buffer.from(entries.map((entry) => `${entry}\0`).join(''), 'latin1');
}

type Run = (words: readonly string[], input?: Buffer) => Promise<string>;

let indexes = 0;

async function inOwnIndex<Result>(
  repository: string,
  work: (run: Run, index: string) => Promise<Result>,
): Promise<Result> {
  indexes += 1;
  const index = `${repository}/.git/test-index-${indexes}`;
  try {
    return await work((words, input) => runGit(repository, index, words, input), index);
  } finally {
    await rm(index, { force: true });
  }
}

function runGit(
  repository: string,
  index: string,
  words: readonly string[],
  input: Buffer = Buffer.alloc(0),
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['--literal-pathspecs', ...words], {
      cwd: repository,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: '/nonexistent',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_INDEX_FILE: index,
      },
    });
    const [output, complaint]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString('latin1').replace(/\n$/, ''));
      else reject(new Error(`git ${words.join(' ')}: ${Buffer.concat(complaint).toString()}`));
    });
  });
}
