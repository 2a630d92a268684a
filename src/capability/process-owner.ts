import { readFileSync, readlinkSync } from 'node:fs';
import { AuthorityError } from '../errors/index.ts';

/**
 * A process that cannot be confused with a later one of the same number: start time in clock ticks since boot (proc(5), field 22 of
 * /proc/pid/stat), PID namespace (namespaces(7)) and the first eight digits of the boot id.
 */
export interface ProcessOwner {
  readonly pid: string;
  readonly startTime: string;
  readonly pidNamespace: string;
  readonly boot: string;
}

/** `foreign`: it ran in a PID namespace that this process cannot look into, so that nothing is known of it. */
export type OwnerState = 'alive' | 'dead' | 'foreign';

const startTimeField = 22;
const bootDigits = 8;
let current: ProcessOwner | null = null;

/** @throws `state_unavailable` where /proc is not mounted */
export function currentProcess(): ProcessOwner {
  if (current !== null) return current;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, bootDigits);
    const pidNamespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    const startTime = startTimeOf('self');
    if (startTime === null || pidNamespace === undefined || !/^[0-9a-f]{8}$/.test(boot)) {
      throw new Error('unexpected form of /proc');
    }
    current = { pid: String(process.pid), startTime, pidNamespace, boot };
    return current;
  } catch (cause) {
    throw new AuthorityError('state_unavailable', { details: { file: '/proc' }, cause });
  }
}

/**
 * The process that runs under this number now, seen from the PID namespace of this one; null when there is none, or it is hidden.
 * @throws `state_unavailable` where /proc is not mounted
 */
export function runningProcess(pid: number): ProcessOwner | null {
  const { pidNamespace, boot } = currentProcess();
  const startTime = startTimeOf(String(pid));
  return startTime === null ? null : { pid: String(pid), startTime, pidNamespace, boot };
}

/** Whether a process still runs. A process that exists but cannot be read counts as alive. */
export function stateOf(owner: ProcessOwner): OwnerState {
  const self = currentProcess();
  if (owner.boot !== self.boot) return 'dead';
  if (owner.pidNamespace !== self.pidNamespace) return 'foreign';
  try {
    process.kill(Number(owner.pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead';
  }
  const startTime = startTimeOf(owner.pid);
  return startTime === null || startTime === owner.startTime ? 'alive' : 'dead';
}

/** Null when the process is gone or hidden (mount option `hidepid`, proc(5)). */
function startTimeOf(pid: string): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const afterName = text.slice(text.lastIndexOf(')') + 2);
    return afterName.split(' ')[startTimeField - 3] ?? null;
  } catch {
    return null;
  }
}
