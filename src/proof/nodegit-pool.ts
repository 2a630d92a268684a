import { AuthorityError } from '../errors/index.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { HangMemory } from './hang-memory.ts';
import type { NodegitProcess, NodegitProcessEvents } from './nodegit-process.ts';
import { type NodegitReply, parseNodegitReply } from './nodegit-reply.ts';

export interface NodegitPoolOptions {
  readonly start: (events: NodegitProcessEvents) => NodegitProcess;
  /** Milliseconds for one answer; default 1,000. The slowest honest answers take a few. */
  readonly deadlineMs?: number;
  /** Answers after which a child is replaced; default 50,000. Whatever libgit2 leaks stays bounded. */
  readonly answersPerChild?: number;
  readonly breaker?: CircuitBreaker;
}

/** One child stands on so many questions at once: libgit2's own thread pool is stuck at ten, and then the innocent wait with the guilty. */
const inFlightLimit = 8;
/** Questions waiting for a place. More would only grow old. */
const queueLimit = 1024;
/** From the call to the last chance: a child to start, a retry, a standby to start. */
const patienceMs = 15_000;
/** Loading nodegit takes about 0.3 s. */
const startLimitMs = 10_000;
/** Between leaving the pool and the kill: answers that are on their way still arrive. */
const graceMs = 50;
/** Any interval keeps the process running. */
const wakeMs = 1000;

/** What a child is asked to look at. */
export interface NodegitQuestion {
  /** `/proc/<pid>/fd/<n>` of the root. */
  readonly descriptor: string;
  /** The row to look up in the worktree list of a main checkout. */
  readonly row: NodegitRowQuestion | null;
}

export interface NodegitRowQuestion {
  /** Path of the main checkout. */
  readonly main: string;
  /** Name of the administrative directory. */
  readonly name: string;
  /** Where the worktree is expected, so that the child knows when to ask a repository that it opens anew. */
  readonly path: string;
  /** The one that the main checkout is expected to have, as the child names directories: numbers in decimal. */
  readonly commonDirectory: { readonly path: string; readonly device: string; readonly inode: string };
}

interface Question {
  readonly asked: NodegitQuestion;
  /** Names the repository for the memory of hangs. */
  readonly repository: string;
  readonly resolve: (reply: NodegitReply) => void;
  readonly reject: (error: AuthorityError) => void;
  /** Children that died of something else while this was being answered. */
  deaths: number;
  settled: boolean;
}

interface Flight {
  readonly question: Question;
  readonly timer: NodeJS.Timeout;
}

interface Child {
  readonly process: NodegitProcess;
  readonly flights: Map<number, Flight>;
  readonly startTimer: NodeJS.Timeout;
  ready: boolean;
  /** Takes no more questions; ends when its flights have. */
  leaving: boolean;
  ended: boolean;
  answers: number;
}

/**
 * One child that answers and one that stands by, started with the first question. A child that is late is taken out in the same
 * tick, the standby takes over, and only then is the late one killed. The question that was late fails; the others it was working on
 * are asked once more.
 */
export class NodegitPool {
  readonly #options: NodegitPoolOptions;
  readonly #breaker: CircuitBreaker;
  readonly #hangs = new HangMemory();
  readonly #children = new Set<Child>();
  readonly #queue: Question[] = [];
  #primary: Child | null = null;
  #standby: Child | null = null;
  #lastId = 0;
  #closed: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: NodegitPoolOptions) {
    this.#options = options;
    this.#breaker = options.breaker ?? new CircuitBreaker({ limit: 5, windowMs: 60_000, openMs: 60_000 });
  }

  /** Too many children died; nothing is asked for a while. */
  get isBroken(): boolean {
    return this.#breaker.isOpen;
  }

  /** Process ids of the guards of all children that have not ended. */
  get processes(): number[] {
    return [...this.#children].flatMap(({ process }) => process.pid ?? []);
  }

  /** @throws `prover_unavailable` | `aborted` */
  async ask(asked: NodegitQuestion, repository: string, signal?: AbortSignal): Promise<NodegitReply> {
    if (signal?.aborted) throw new AuthorityError('aborted', { cause: signal.reason });
    if (this.#closed !== null) throw unavailable('closed');
    if (this.#breaker.isOpen) throw unavailable('circuit-open');
    if (this.#hangs.has(repository)) throw unavailable('hung-before');
    if (this.#queue.length >= queueLimit) throw unavailable('queue-full');
    let question: Question | undefined;
    let onAbort: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<NodegitReply>((resolve, reject) => {
        const waiting = { asked, repository, resolve, reject, deaths: 0, settled: false };
        question = waiting;
        onAbort = () => reject(new AuthorityError('aborted', { cause: signal?.reason }));
        signal?.addEventListener('abort', onAbort, { once: true });
        timer = setTimeout(() => reject(unavailable('no-child')), patienceMs);
        this.#queue.push(waiting);
        this.#pump();
      });
    } finally {
      clearTimeout(timer);
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
      if (question !== undefined) question.settled = true;
    }
  }

  /** Kills the children and resolves when they have ended. Waiting questions fail. */
  close(): Promise<void> {
    this.#closing ??= this.#endAll();
    return this.#closing;
  }

  async #endAll(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#failQueue('closed');
    for (const child of this.#children) this.#kill(child);
    if (this.#children.size === 0) this.#closed?.();
    // The children are let go of (`letGo`): without this a process with nothing else to do would end in the middle of the wait.
    const awake = setInterval(() => undefined, wakeMs);
    await ended;
    clearInterval(awake);
  }

  #pump(): void {
    if (this.#closed !== null) return;
    if (this.#breaker.isOpen) {
      this.#failQueue('circuit-open');
      return;
    }
    if (this.#primary?.ready === true) this.#standby ??= this.#start();
    if (this.#queue.length === 0) return;
    this.#primary ??= this.#start();
    const child = this.#primary;
    if (!child.ready) return;
    while (child.flights.size < inFlightLimit) {
      const question = this.#queue.shift();
      if (question === undefined) return;
      if (!question.settled) this.#send(child, question);
    }
  }

  #send(child: Child, question: Question): void {
    const id = ++this.#lastId;
    // An answer may have come while this thread was busy; it is read before the child is condemned.
    const judge = () => setImmediate(() => this.#late(child, id));
    const timer = setTimeout(judge, this.#options.deadlineMs ?? 1000);
    child.flights.set(id, { question, timer });
    child.process.send({ id, ...question.asked });
  }

  #late(child: Child, id: number): void {
    const flight = this.#land(child, id);
    if (flight === undefined) return;
    this.#hangs.remember(flight.question.repository);
    flight.question.reject(unavailable('deadline'));
    this.#replace(child);
  }

  #start(): Child {
    const child: Child = {
      process: this.#options.start({
        onMessage: (message) => this.#receive(child, message),
        onEnd: () => this.#end(child),
      }),
      flights: new Map(),
      startTimer: setTimeout(() => this.#replace(child), startLimitMs).unref(),
      ready: false,
      leaving: false,
      ended: false,
      answers: 0,
    };
    this.#children.add(child);
    return child;
  }

  #receive(child: Child, message: unknown): void {
    const reply = parseNodegitReply(message);
    if (reply === null) this.#replace(child);
    else if (reply.kind === 'ready') this.#welcome(child);
    else this.#deliver(child, reply);
  }

  #welcome(child: Child): void {
    child.ready = true;
    clearTimeout(child.startTimer);
    this.#pump();
  }

  #deliver(child: Child, reply: NodegitReply): void {
    const flight = this.#land(child, reply.id);
    // The answer to a question that was given up; there is nobody to give it to.
    if (flight === undefined) return;
    child.answers += 1;
    flight.question.resolve(reply);
    if (child.leaving && child.flights.size === 0) this.#kill(child);
    else if (child.answers >= (this.#options.answersPerChild ?? 50_000)) this.#recycle(child);
    this.#pump();
  }

  #land(child: Child, id: number): Flight | undefined {
    const flight = child.flights.get(id);
    clearTimeout(flight?.timer);
    child.flights.delete(id);
    return flight;
  }

  /** An old child leaves without a failure, once the standby can take over. */
  #recycle(child: Child): void {
    if (child !== this.#primary || this.#standby?.ready !== true) return;
    this.#retire(child);
    if (child.flights.size === 0) this.#kill(child);
  }

  /** A child that failed leaves at once. */
  #replace(child: Child): void {
    if (child.leaving || child.ended) return;
    this.#breaker.recordFailure();
    this.#retire(child);
    setTimeout(() => this.#kill(child), graceMs).unref();
    this.#pump();
  }

  #retire(child: Child): void {
    child.leaving = true;
    clearTimeout(child.startTimer);
    if (child === this.#standby) this.#standby = null;
    if (child !== this.#primary) return;
    this.#primary = this.#standby;
    this.#standby = null;
  }

  #kill(child: Child): void {
    if (!child.ended) child.process.kill();
  }

  #end(child: Child): void {
    if (child.ended) return;
    const expected = child.leaving || this.#closed !== null;
    child.ended = true;
    // The guard may be gone before what it guards.
    child.process.kill();
    this.#children.delete(child);
    if (!expected) this.#breaker.recordFailure();
    this.#retire(child);
    for (const id of [...child.flights.keys()]) this.#askAgain(this.#land(child, id)?.question);
    this.#pump();
    if (this.#closed === null) return;
    this.#failQueue('closed');
    if (this.#children.size === 0) this.#closed();
  }

  #askAgain(question: Question | undefined): void {
    if (question === undefined || question.settled) return;
    question.deaths += 1;
    // Twice at the scene of a death is no coincidence.
    if (question.deaths === 1) {
      this.#queue.unshift(question);
      return;
    }
    this.#hangs.remember(question.repository);
    question.reject(unavailable('child-died'));
  }

  #failQueue(reason: string): void {
    for (const question of this.#queue.splice(0)) question.reject(unavailable(reason));
  }
}

function unavailable(reason: string): AuthorityError {
  return new AuthorityError('prover_unavailable', { details: { prover: 'nodegit', reason } });
}
