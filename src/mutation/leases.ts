import type { StateDirectory, StateLock } from '../capability/state-directory.ts';
import type { GateKey } from './mutation-gate.ts';

/** The classes of keys in lock order. A holder of a later class never waits for an earlier one (see `GateKey`). */
const classes = ['family', 'root', 'file'] as const;
type KeyClass = (typeof classes)[number];

/** Each place has a second byte, that far above it, which whoever waits for the place tries to hold. */
const waitingOffset = 2 ** 47;

/** The place that stands for one key in the lock file of its class. */
export interface LeaseSlot {
  readonly lockClass: KeyClass;
  readonly slot: number;
}

/** A place that is held, until it is released once. */
export interface Lease {
  release(): void;
}

/**
 * Exclusion across processes that share a state directory: one lock file a class, one byte of it a key. Two keys that fall on one
 * byte are held apart needlessly across processes and share it within this one; each class has its own file, so such an accident
 * cannot turn the lock order round.
 *
 * Not promised: exclusion between processes with different state directories, or while somebody deletes the lock files; fairness
 * between processes.
 */
export class Leases {
  readonly #state: StateDirectory;
  readonly #files: Record<KeyClass, SharedLock>;
  #stale = false;
  #refreshing: Promise<void> | null = null;

  private constructor(state: StateDirectory, files: Record<KeyClass, SharedLock>) {
    this.#state = state;
    this.#files = files;
  }

  /** Opens one file a class, `locks/family` and so on, below the state directory. @throws `state_unavailable` */
  static async open(state: StateDirectory): Promise<Leases> {
    return new Leases(state, await openFiles(state));
  }

  /** Takes one place; null at once when another process has it, or when `refresh` is needed first. @throws the errno error of fcntl(2) */
  tryTake({ lockClass, slot }: LeaseSlot): Lease | null {
    const file = this.#files[lockClass];
    try {
      return file.tryTake(slot) ? { release: () => file.release(slot) } : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESTALE') throw error;
      this.#stale = true;
      return null;
    }
  }

  /** Opens the lock files anew after they were deleted: a lock on a deleted file excludes nobody. @throws `state_unavailable` */
  async refresh(): Promise<void> {
    if (!this.#stale) return;
    this.#refreshing ??= this.#openAnew().finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  async #openAnew(): Promise<void> {
    const files = await openFiles(this.#state);
    this.close();
    Object.assign(this.#files, files);
    this.#stale = false;
  }

  /** Tells the other processes, until `release`, that this one waits for the place. Only a hint: its loss costs time, not safety. */
  announce({ lockClass, slot }: LeaseSlot): Lease | null {
    return this.tryTake({ lockClass, slot: slot + waitingOffset });
  }

  /** Whether another process has announced that it waits for the place. */
  othersWait(place: LeaseSlot): boolean {
    const announced = this.announce(place);
    announced?.release();
    return announced === null;
  }

  close(): void {
    for (const name of classes) this.#files[name].close();
  }
}

async function openFiles(state: StateDirectory): Promise<Record<KeyClass, SharedLock>> {
  const opened: Partial<Record<KeyClass, SharedLock>> = {};
  try {
    for (const name of classes) opened[name] = new SharedLock(await state.openLock(name));
    return opened as Record<KeyClass, SharedLock>;
  } catch (error) {
    for (const file of Object.values(opened)) file.close();
    throw error;
  }
}

/** The places of the keys, in the one order in which every process takes them. */
export function leaseSlots(keys: readonly GateKey[]): readonly LeaseSlot[] {
  if (keys.length === 1) return [slotOf(keys[0] as GateKey)];
  const slots = keys.map(slotOf);
  slots.sort((left, right) => order(left.lockClass) - order(right.lockClass) || left.slot - right.slot);
  return slots.filter((slot, index) => {
    const before = slots[index - 1];
    return before?.lockClass !== slot.lockClass || before.slot !== slot.slot;
  });
}

function slotOf(key: GateKey): LeaseSlot {
  return { lockClass: key.slice(0, key.indexOf(':')) as KeyClass, slot: hash47(key) };
}

/**
 * Two lanes of multiply and xor (FNV-1a's step with two odd multipliers) of which the better-mixed upper bits are kept, 47 in all:
 * exact in a JavaScript number, and twice that many bytes are within a lease's range. It only spreads; nothing rests on its strength. Every version that may run
 * beside another must compute the same.
 */
function hash47(text: string): number {
  let high = 0x811c9dc5;
  let low = 0x2f0b4c47;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995);
    low ^= low >>> 15;
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b);
  low = Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (high >>> 9) * 2 ** 24 + (low >>> 8);
}

function order(lockClass: KeyClass): number {
  return classes.indexOf(lockClass);
}

/** Counts the users of a byte within this process, because the kernel gives it to the process only once. */
class SharedLock {
  readonly #lock: StateLock;
  readonly #users = new Map<number, number>();

  constructor(lock: StateLock) {
    this.#lock = lock;
  }

  tryTake(slot: number): boolean {
    const users = this.#users.get(slot) ?? 0;
    if (users === 0 && !this.#lock.tryAcquire(slot)) return false;
    this.#users.set(slot, users + 1);
    return true;
  }

  release(slot: number): void {
    const users = this.#users.get(slot) ?? 0;
    if (users > 1) {
      this.#users.set(slot, users - 1);
      return;
    }
    this.#users.delete(slot);
    this.#lock.release(slot);
  }

  close(): void {
    this.#lock.close();
  }
}
