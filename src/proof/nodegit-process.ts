import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * The child is plain JavaScript and shipped as it is: the same file runs beside the sources and beside the compiled room, whose
 * folders lie equally deep.
 */
const childProgram = fileURLToPath(new URL('../../src/proof/nodegit-child.mjs', import.meta.url));

/** Descriptor number of the lifeline in the guard; the channel of messages comes after it. */
const lifelineDescriptor = 3;

/** One running child. It reports each event once; after `onEnd` nothing more comes. */
export interface NodegitProcess {
  readonly pid: number | undefined;
  send(message: unknown): void;
  /** Kills the child and whatever it started. */
  kill(): void;
}

export interface NodegitProcessEvents {
  onMessage(message: unknown): void;
  onEnd(): void;
}

export interface NodegitProgram {
  /** Absolute path of the `death-guard` program that is built beside the addon. */
  readonly deathGuard: string;
  /** Directory of a built nodegit, loaded by absolute path. */
  readonly nodegit: string;
}

/**
 * Starts the child under the death guard, with an environment made from nothing: libgit2 looks for user
 * configuration below HOME and would lift its owner check for SUDO_UID.
 */
export function startNodegitProcess(program: NodegitProgram, events: NodegitProcessEvents): NodegitProcess {
  const child = spawn(
    program.deathGuard,
    [String(lifelineDescriptor), process.execPath, childProgram, program.nodegit],
    {
      cwd: '/',
      env: {
        PATH: '/usr/bin:/bin',
        HOME: '/nonexistent',
        XDG_CONFIG_HOME: '/nonexistent',
        LC_ALL: 'C.UTF-8',
      },
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'json',
    },
  );
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    events.onEnd();
  };
  child.on('message', (message) => {
    if (!ended) events.onMessage(message);
  });
  child.once('exit', end);
  child.once('error', () => {
    if (child.pid === undefined) end();
  });
  // A child that cannot be talked to is of no use; its exit follows.
  child.once('disconnect', () => killGuarded(child));
  letGo(child);
  return {
    pid: child.pid,
    send(message) {
      if (child.connected) child.send(message as object, () => {});
    },
    kill: () => killGuarded(child),
  };
}

/** The guard kills what it guards when the lifeline ends or SIGTERM comes; it is told both ways. */
function killGuarded(child: ChildProcess): void {
  child.stdio[lifelineDescriptor]?.destroy();
  child.kill('SIGTERM');
}

/** An idle child must not keep this process running; whoever waits for an answer has a timer that does. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  const lifeline = child.stdio[lifelineDescriptor];
  if (lifeline !== null && lifeline !== undefined && 'unref' in lifeline)
    (lifeline as { unref(): void }).unref();
  lifeline?.on('error', () => {});
}
