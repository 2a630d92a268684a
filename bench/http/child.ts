import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';

/** A process of a trial that answers messages. */
export interface TrialChild<Ready> {
  readonly pid: number;
  /** What the child said when it was ready. */
  readonly ready: Ready;
  /** Sends one message and resolves with the answer; one at a time. */
  ask<Answer>(message: object): Promise<Answer>;
}

/** `file` is a compiled module of this folder; it sends one message when it is ready and ends when the channel closes. */
export async function startChild<Ready>(
  cleanup: Cleanup,
  file: string,
  settings: object = {},
): Promise<TrialChild<Ready>> {
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(settings)], {
    serialization: 'advanced',
    execArgv: ['--expose-gc', '--enable-source-maps'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  cleanup.add(() => stop(child));
  const ready = (await nextMessage(child, file)) as Ready;
  return {
    pid: child.pid as number,
    ready,
    async ask<Answer>(message: object): Promise<Answer> {
      const answer = nextMessage(child, file);
      child.send(message);
      return (await answer) as Answer;
    },
  };
}

function nextMessage(child: ChildProcess, file: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit);
      resolve(message);
    };
    const onExit = (code: number | null): void => {
      child.off('message', onMessage);
      reject(new Error(`${file} ended with exit code ${code}`));
    };
    child.once('message', onMessage).once('exit', onExit);
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.disconnect();
  await exit;
}

/** What `startChild` was given, read inside the child. */
export function settingsOfChild<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? '{}') as Settings;
}
