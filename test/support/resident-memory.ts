import { readFileSync, writeFileSync } from 'node:fs';

const kibibyte = 1024;

/** Bytes that a process has in memory now, or had at most since its peak was reset (proc_pid_status(5)). */
function residentBytes(pid: number | 'self', field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const value = new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1];
  if (value === undefined) throw new Error(`no ${field} of ${pid}`);
  return Number(value) * kibibyte;
}

/** How far the memory of processes that keep running rose above its start, at its highest, while `work` was done. */
export async function peakGrowth(
  processes: readonly (number | 'self')[],
  work: () => Promise<unknown>,
): Promise<number> {
  const before = processes.map((pid) => {
    // "5" resets the peak (proc_pid_clear_refs(5)).
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return residentBytes(pid, 'VmRSS');
  });
  await work();
  const growth = processes.map((pid, index) => residentBytes(pid, 'VmHWM') - (before[index] as number));
  return Math.max(...growth);
}
