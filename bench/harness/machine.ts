import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { availableParallelism, loadavg, release, tmpdir } from 'node:os';
import { promisify } from 'node:util';

/** Facts that a ratio may depend on. No names and no paths of the machine. */
export interface Machine {
  readonly startedAt: string;
  readonly kernel: string;
  /** Type of the file system that the trials' files are on. */
  readonly fileSystem: string;
  readonly node: string;
  readonly git: string;
  readonly cores: number;
  readonly rounds: number;
  /** One-minute load averages. */
  readonly loadBefore: number;
  readonly loadAfter: number;
}

export async function describeMachine(rounds: number): Promise<Machine> {
  const { stdout } = await promisify(execFile)('git', ['--version']);
  const load = currentLoad();
  return {
    startedAt: new Date().toISOString(),
    kernel: release(),
    fileSystem: await fileSystemOf(await realpath(tmpdir())),
    node: process.versions.node,
    git: stdout.trim().replace('git version ', ''),
    cores: availableParallelism(),
    rounds,
    loadBefore: load,
    loadAfter: load,
  };
}

export function currentLoad(): number {
  return loadavg()[0] ?? 0;
}

/** The type that the last mount at the nearest mount point of the path has (proc_pid_mountinfo(5)). */
async function fileSystemOf(path: string): Promise<string> {
  let nearest = { point: '', type: 'unknown' };
  for (const line of (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')) {
    const [mount, source] = line.split(' - ');
    const point = mount?.split(' ')[4]?.replaceAll('\\040', ' ');
    const type = source?.split(' ')[0];
    if (point === undefined || type === undefined || point.length < nearest.point.length) continue;
    const below = point === '/' ? '/' : `${point}/`;
    if (path === point || path.startsWith(below)) nearest = { point, type };
  }
  return nearest.type;
}
