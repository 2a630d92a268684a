import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type Lease, type LeaseSlot, type Leases, leaseSlots } from './leases.ts';
import type { GateKey, MutationGate, WaitOptions } from './mutation-gate.ts';
import { type Ticket, TicketQueue } from './ticket-queue.ts';
import { Wait } from './wait.ts';

export interface MutationGateOptions {
  /** Exclusion across processes; null keeps the gate to this process. The gate closes it. */
  readonly leases: Leases | null;
  /** Tasks that may wait for one key; the next one is refused with `queue_full`. */
  readonly queueLimit?: number;
}

/** 64 clients that save one file at once must all get an answer; four times that is a caller out of control. */
const defaultQueueLimit = 256;
const defaultWaitMs = 30_000;
/** Between two looks at a lease that another process holds: quick at first, as a commit takes about a millisecond. */
const leasePollMs = [1, 1, 2, 4, 8] as const;
const longestPollMs = 8;
/** After so many turns in a row within this process, another process that waits gets its chance. */
const handoversBeforeYield = 8;

export function createMutationGate(options: MutationGateOptions): MutationGate {
  return new Gate(options);
}

class Gate implements MutationGate {
  readonly #leases: Leases | null;
  readonly #queueLimit: number;
  readonly #queue = new TicketQueue();
  /** Of the tasks that have not started. */
  readonly #waits = new Set<Wait>();
  #admitted = 0;
  #closed: Promise<void> | null = null;
  #onDrained: (() => void) | null = null;

  constructor(options: MutationGateOptions) {
    this.#leases = options.leases;
    this.#queueLimit = options.queueLimit ?? defaultQueueLimit;
  }

  async run<Result>(
    keys: readonly GateKey[],
    task: () => Promise<Result>,
    options: WaitOptions = {},
  ): Promise<Result> {
    if (this.#closed !== null) throw new AuthorityError('shutting_down');
    const wait = new Wait(options.signal, options.waitMs ?? defaultWaitMs);
    wait.assertWanted();
    const distinctKeys = keys.length > 1 ? [...new Set(keys)] : keys;
    this.#assertRoom(distinctKeys);
    const ticket = this.#queue.join(distinctKeys, wait.wake);
    this.#admitted += 1;
    this.#waits.add(wait);
    let held: readonly Lease[] = [];
    try {
      if (!ticket.turn) await wait.untilWoken();
      if (this.#leases !== null) held = await takeLeases(this.#leases, distinctKeys, ticket, wait);
      this.#waits.delete(wait);
      return await task();
    } finally {
      for (const lease of held) lease.release();
      this.#waits.delete(wait);
      this.#queue.leave(ticket);
      this.#admitted -= 1;
      if (this.#admitted === 0) this.#onDrained?.();
    }
  }

  pending(): readonly string[] {
    return this.#queue.keys();
  }

  depth(key: GateKey): number {
    return this.#queue.depth(key);
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    for (const wait of this.#waits) wait.stop();
    if (this.#admitted > 0) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    this.#leases?.close();
  }

  #assertRoom(keys: readonly GateKey[]): void {
    // The one that runs does not wait.
    if (keys.every((key) => this.#queue.depth(key) <= this.#queueLimit)) return;
    throw new AuthorityError('queue_full', { details: { limit: this.#queueLimit } });
  }
}

/** Takes the places of all keys in their one order, so that processes cannot wait for each other in a circle. */
async function takeLeases(
  leases: Leases,
  keys: readonly GateKey[],
  ticket: Ticket,
  wait: Wait,
): Promise<readonly Lease[]> {
  const held: Lease[] = [];
  try {
    for (const slot of leaseSlots(keys)) {
      if (isTimeToYield(ticket) && leases.othersWait(slot)) await wait.sleep(2 * longestPollMs);
      held.push(leases.tryTake(slot) ?? (await pollLease(leases, slot, wait)));
    }
    return held;
  } catch (error) {
    for (const lease of held) lease.release();
    if (isAuthorityError(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new AuthorityError('state_unavailable', { details: { file: 'locks', reason: code }, cause: error });
  }
}

async function pollLease(leases: Leases, slot: LeaseSlot, wait: Wait): Promise<Lease> {
  let announced: Lease | null = null;
  try {
    for (let look = 0; ; look += 1) {
      await leases.refresh();
      const lease = leases.tryTake(slot);
      if (lease !== null) return lease;
      announced ??= leases.announce(slot);
      // Spread by chance, so that two processes do not look in step for ever.
      await wait.sleep((leasePollMs[look] ?? longestPollMs) * (0.5 + Math.random()));
    }
  } finally {
    announced?.release();
  }
}

function isTimeToYield(ticket: Ticket): boolean {
  return ticket.handovers > 0 && ticket.handovers % handoversBeforeYield === 0;
}
