import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { currentProcess, stateOf } from '../../src/capability/process-owner.ts';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startChild(): Promise<ChildProcess> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return child;
}

/** As proc(5) writes it, read here without the code under test. */
function startTimeOf(pid: number): string {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')')).split(' ')[20] ?? '';
}

describe('the owner of a transaction', () => {
  it('is alive while this process is', () => {
    expect(stateOf(currentProcess())).toBe('alive');
    expect(currentProcess().startTime).toBe(startTimeOf(process.pid));
  });

  it('is alive while another process runs, and dead after', async () => {
    const child = await startChild();
    const owner = {
      ...currentProcess(),
      pid: String(child.pid),
      startTime: startTimeOf(child.pid as number),
    };
    expect(stateOf(owner)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(stateOf(owner)).toBe('dead');
  });

  it('is dead when its number has gone to a later process', async () => {
    const child = await startChild();
    expect(stateOf({ ...currentProcess(), pid: String(child.pid), startTime: '1' })).toBe('dead');
  });

  it('is dead when the system was started again', () => {
    const { boot } = currentProcess();
    expect(stateOf({ ...currentProcess(), boot: boot === '00000000' ? '11111111' : '00000000' })).toBe(
      'dead',
    );
  });

  it('is unknown in a process namespace that cannot be seen', () => {
    expect(stateOf({ ...currentProcess(), pidNamespace: '1' })).toBe('foreign');
  });
});
