import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

/** Whether the process exists and is more than the record of a dead one (proc_pid_stat(5)). */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false;
  }
}

/** Ids of all running processes below this one. */
export function descendants(root: number = process.pid): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || !isRunning(Number(name))) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended while we looked.
    }
  }
  const isBelow = (pid: number | undefined): boolean => {
    if (pid === undefined || pid <= 1) return false;
    return pid === root || isBelow(parents.get(pid));
  };
  return [...parents.keys()].filter((pid) => pid !== root && isBelow(pid));
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** The process ids that a program wrote to a file, once it has. */
export async function reportedProcesses(file: string): Promise<number[]> {
  const read = async (): Promise<number[]> => JSON.parse(await readFile(file, 'utf8'));
  await expect.poll(read, { timeout: 10_000 }).not.toHaveLength(0);
  return read();
}
