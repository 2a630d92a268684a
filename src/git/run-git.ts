import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import type { Readable } from 'node:stream';
import { AuthorityError } from '../errors/index.ts';
import { programSearchPath } from './environment.ts';
import { FailureText } from './failure-text.ts';
import type { GitProgress } from './progress-lines.ts';
import { createSlots, type Slots } from './slots.ts';

/** One Git process to run. Made only by the command tables of this room. */
export interface GitCommand {
  /** Names the command in errors; never shown with its arguments. */
  readonly name: string;
  readonly arguments: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** The directory Git starts in; a descriptor path keeps it on the held directory. */
  readonly directory: string;
  /** Milliseconds from the call to the last byte, waiting for a free place included. */
  readonly deadlineMs: number;
  /** Bytes of memory of its own; beyond that Git fails (setrlimit(2), RLIMIT_DATA). Files that it maps do not count. */
  readonly dataLimitBytes: number;
  /** Bytes of standard output; one more is a failure, never a shortened answer. */
  readonly outputLimitBytes: number;
  /** What standard input holds; empty when absent. */
  readonly input?: Uint8Array;
  /** Set on a command that waits for another machine: it takes a place of its own kind, so that no local command waits for it (W47). */
  readonly network?: true;
  /** Set on a network command that nobody asked for: it has places of its own, and does not begin while one that was asked for waits. */
  readonly background?: true;
}

/** How Git ended. Any exit status is an answer; what it means is for the caller to say. */
export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** The first kibibytes, for logs only. */
  readonly stderr: Buffer;
}

export interface GitRunner {
  /**
   * Runs the command under the death guard: it and all it started are killed at the deadline, on abort, when it says too much, and
   * when this process dies. A network command that is stopped has a second to end by itself, and if it does, that is its result. Git may end
   * without reading its input.
   * @throws `git_failed` (details.reason: `deadline` | `no-place` (never started) | `output-limit` | `signal` | `spawn` | `not-installed`) | `aborted` | `shutting_down`
   */
  run(command: GitCommand, signal?: AbortSignal): Promise<GitResult>;
  /**
   * The same, with standard output handed on as it comes and kept nowhere; `stdout` of the result is empty. What was handed on means nothing
   * until Git has ended well. What `onOutput` throws kills the command and is thrown.
   */
  stream(command: GitCommand, onOutput: (chunk: Buffer) => void, signal?: AbortSignal): Promise<GitResult>;
  /** As `run`, with how far Git has come told meanwhile, where the command makes it say so. */
  runTelling(
    command: GitCommand,
    onProgress: (progress: GitProgress) => void,
    signal?: AbortSignal,
  ): Promise<GitResult>;
  /** Processes running now. */
  readonly running: number;
  /** Kills what runs, refuses what comes, and resolves when all are gone. */
  close(): Promise<void>;
}

export interface GitRunnerOptions {
  /** Absolute path of the `death-guard` program that is built beside the addon. */
  readonly deathGuard: string;
  /** Absolute path of Git; by default the first one on a fixed search path. */
  readonly gitProgram?: string;
  /** Processes at once; default 4. More only compete for the same disk and processors. */
  readonly concurrency?: number;
  /** Network processes at once, beside the others; default 4. */
  readonly networkConcurrency?: number;
}

/** Fetches that nobody asked for, at once. */
const backgroundConcurrency = 2;

/** The only place that starts Git. */
export function createGitRunner(options: GitRunnerOptions): GitRunner {
  const gitProgram = options.gitProgram ?? findProgram('git');
  const local = createSlots(options.concurrency ?? 4);
  const network = createSlots(options.networkConcurrency ?? 4);
  const background = createSlots(backgroundConcurrency);
  const active = new Map<AbortController, Promise<unknown>>();
  let closed = false;

  async function run(command: GitCommand, signal: AbortSignal | undefined, sinks: Sinks): Promise<GitResult> {
    if (closed) throw new AuthorityError('shutting_down');
    if (signal?.aborted) throw aborted(signal);
    if (gitProgram === null) throw failed(command, 'not-installed');
    const stop = new AbortController();
    let reason = 'no-place';
    const timer = setTimeout(() => stop.abort(failed(command, reason)), command.deadlineMs);
    const onAbort = () => stop.abort(aborted(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    const begin = () => {
      reason = 'deadline';
      return runProcess(options.deathGuard, gitProgram, command, sinks, stop.signal);
    };
    const work = inSlot(command, begin, stop.signal);
    active.set(
      stop,
      work.catch(() => {}),
    );
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      active.delete(stop);
    }
  }

  function slotsOf(command: GitCommand): Slots {
    if (command.background) return background;
    return command.network ? network : local;
  }

  async function inSlot(
    command: GitCommand,
    begin: () => Promise<GitResult>,
    stop: AbortSignal,
  ): Promise<GitResult> {
    const give = await slotsOf(command).take(stop);
    try {
      if (command.background) await network.untilNoneWaits(stop);
      return await begin();
    } finally {
      give();
    }
  }

  return {
    run: (command, signal) => run(command, signal, {}),
    stream: (command, onOutput, signal) => run(command, signal, { onOutput }),
    runTelling: (command, onProgress, signal) => run(command, signal, { onProgress }),
    get running() {
      return local.taken + network.taken + background.taken;
    },
    async close() {
      closed = true;
      const ending = [...active.values()];
      for (const stop of active.keys()) stop.abort(new AuthorityError('shutting_down'));
      await Promise.all(ending);
    },
  };
}

/** Descriptor number of the lifeline in the guard: the first after the standard ones. */
const lifelineDescriptor = 3;

/**
 * How long a network command that is stopped may go on. One that waits for the other machine holds nothing; one that writes refs, which takes
 * moments, would leave the lock of a ref for ever when it was killed.
 */
const networkGraceMs = 1000;

/** How long a killed process may take to go, stuck in the kernel as it may be, before its caller hears of the failure. */
const dyingLimitMs = 2000;

type OutputSink = (chunk: Buffer) => void;

/** Who gets what Git says as it comes; without a sink it is kept for the result. */
interface Sinks {
  readonly onOutput?: OutputSink;
  readonly onProgress?: (progress: GitProgress) => void;
}

function runProcess(
  guard: string,
  git: string,
  command: GitCommand,
  { onOutput, onProgress }: Sinks,
  stop: AbortSignal,
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const limit = `--data-limit=${command.dataLimitBytes}`;
    const child = spawn(guard, [limit, String(lifelineDescriptor), git, ...command.arguments], {
      cwd: command.directory,
      env: command.environment,
      // Out of the terminal's group: the guard decides when Git dies.
      detached: true,
      stdio: [command.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    let failure: unknown = null;
    let dying: NodeJS.Timeout | undefined;
    const kill = (reason: unknown) => {
      if (failure !== null) return;
      failure = reason;
      killGuarded(child);
      dying = setTimeout(() => finish(null), dyingLimitMs);
    };
    let grace: NodeJS.Timeout | undefined;
    const onStop = () => {
      if (command.network) grace = setTimeout(() => kill(stop.reason), networkGraceMs);
      else kill(stop.reason);
    };
    const stdout: Buffer[] = [];
    const take = (chunk: Buffer) => {
      if (failure !== null) return;
      try {
        if (onOutput === undefined) stdout.push(chunk);
        else onOutput(chunk);
      } catch (error) {
        kill(error);
      }
    };
    limited(child.stdout, command.outputLimitBytes, take, () => kill(failed(command, 'output-limit')));
    const said = new FailureText(onProgress);
    child.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
    // The guard says here, and only here, that it could not start Git.
    const lifeline = child.stdio[lifelineDescriptor] as Readable | null;
    lifeline?.on('data', (words: Buffer) => {
      failure ??= failed(command, 'spawn', words.toString('latin1'));
    });
    child.once('error', (cause) => {
      failure ??= failed(command, 'spawn', cause);
      if (child.pid === undefined) finish(null);
    });
    child.once('close', finish);
    // Breaking pipes are how a killed process looks; its end is told by `close`.
    for (const stream of child.stdio) stream?.on('error', () => {});
    child.stdin?.end(command.input);
    if (stop.aborted) onStop();
    else stop.addEventListener('abort', onStop, { once: true });

    function finish(exitCode: number | null): void {
      clearTimeout(dying);
      clearTimeout(grace);
      stop.removeEventListener('abort', onStop);
      if (failure !== null) reject(failure);
      else if (exitCode === null) reject(failed(command, 'signal'));
      else resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: said.end() });
    }
  });
}

/** The guard kills whatever Git started when the lifeline ends or SIGTERM comes; it is told both ways. */
function killGuarded(child: ChildProcess): void {
  for (const stream of child.stdio) stream?.destroy();
  child.kill('SIGTERM');
}

/** Hands on at most `limit` bytes of a stream; the rest is dropped, after `onExcess` was told. */
function limited(stream: Readable | null, limit: number, take: OutputSink, onExcess: () => void): void {
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (size + chunk.length > limit) onExcess();
    if (size < limit) take(chunk.subarray(0, limit - size));
    size += chunk.length;
  });
}

function findProgram(name: string): string | null {
  for (const directory of programSearchPath.split(':')) {
    const path = `${directory}/${name}`;
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here; the next directory may have it.
    }
  }
  return null;
}

function failed(command: GitCommand, reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('git_failed', { details: { command: command.name, reason }, cause });
}

function aborted(signal: AbortSignal | undefined): AuthorityError {
  return new AuthorityError('aborted', { cause: signal?.reason });
}
