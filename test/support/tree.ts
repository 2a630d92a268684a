import { execFile } from 'node:child_process';
import { link, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Makes what each line says below a directory; missing parents are made too.
 *
 * `d/` directory · `f` file with its own name as content · `f: text` file · `l -> target` symbolic link · `h == f` hard link ·
 * `p |` FIFO · `s =` socket
 */
export async function makeTree(root: string, lines: readonly string[]): Promise<void> {
  for (const line of lines) await makeEntry(root, line);
}

async function makeEntry(root: string, line: string): Promise<void> {
  const place = async (path: string) => {
    const absolute = join(root, path);
    await mkdir(dirname(absolute), { recursive: true });
    return absolute;
  };
  const [linkPath, linkTarget] = line.split(' -> ');
  const [hardPath, hardTarget] = line.split(' == ');
  if (linkTarget !== undefined) await symlink(linkTarget, await place(linkPath as string));
  else if (hardTarget !== undefined) await link(join(root, hardTarget), await place(hardPath as string));
  else if (line.endsWith(' |')) await run('mkfifo', [await place(line.slice(0, -2))]);
  else if (line.endsWith(' =')) await makeSocket(await place(line.slice(0, -2)));
  else if (line.endsWith('/')) await mkdir(join(root, line), { recursive: true });
  else {
    const colon = line.indexOf(': ');
    const path = colon === -1 ? line : line.slice(0, colon);
    await writeFile(await place(path), colon === -1 ? path : line.slice(colon + 2));
  }
}

/** By a process that ends without unlinking; a server of Node removes its name when it closes. */
async function makeSocket(path: string): Promise<void> {
  await run('python3', ['-c', 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])', path]);
}

/** Everything below a directory, in the notation of `makeTree`, sorted; hard links and sockets as plain facts. */
export async function readTree(root: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for (const name of await readdir(join(root, path))) {
      const relative = path === '' ? name : `${path}/${name}`;
      const stats = await lstat(join(root, relative));
      if (stats.isDirectory()) {
        lines.push(`${relative}/`);
        await walk(relative);
      } else if (stats.isSymbolicLink()) lines.push(`${relative} -> ${await readlink(join(root, relative))}`);
      else if (stats.isFile()) lines.push(`${relative}: ${await readFile(join(root, relative), 'utf8')}`);
      else lines.push(`${relative} ${stats.isFIFO() ? '|' : '='}`);
    }
  };
  await walk('');
  return lines.sort();
}
