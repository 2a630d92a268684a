import type { StateDirectory, StateLock } from '../capability/state-directory.ts';
import type { GateKey } from './mutation-gate.ts';

/** The classes of keys in lock order. A holder of a later class never waits for an earlier one (see `GateKey`). */
const classes = ['root', 'file'] as const;
type KeyClass = (typeof classes)[number];

/** Each place has a second byte, that far above it, which whoever waits for the place tries to hold. */
const waitingOffset = 2 ** 47;

/** The place that stands for one key in the lock file of its class. */
export interface LeaseSlot {
  readonly lockClass: KeyClass;
  readonly slot: number;
}

/**
 * Exclusion across processes that share a state directory: one lock file a class, one byte of it a key. Two keys that fall on one
 * byte are held apart needlessly across processes and share it within this one; each class has its own file, so such an accident
 * cannot turn the lock order round.
 *
 * Not promised: exclusion between processes with different state directories, or fairness between processes.
 */
export class Leases {
  readonly #files: Readonly<Record<KeyClass, SharedLock>>;

  private constructor(files: Readonly<Record<KeyClass, SharedLock>>) {
    this.#files = files;
  }

  /** Opens `locks/root` and `locks/file` below the state directory. @throws `state_unavailable` */
  static async open(state: StateDirectory): Promise<Leases> {
    const root = new SharedLock(await state.openLock('root'));
    const file = new SharedLock(await state.openLock('file'));
    return new Leases({ root, file });
  }

  /** Takes one place, or answers false at once. @throws the errno error of fcntl(2) */
  tryTake({ lockClass, slot }: LeaseSlot): boolean {
    return this.#files[lockClass].tryTake(slot);
  }

  release({ lockClass, slot }: LeaseSlot): void {
    this.#files[lockClass].release(slot);
  }

  /** Tells the other processes, until `withdraw`, that this one waits for the place. Only a hint: its loss costs time, not safety. */
  announce({ lockClass, slot }: LeaseSlot): void {
    this.#files[lockClass].takeAlone(slot + waitingOffset);
  }

  withdraw({ lockClass, slot }: LeaseSlot): void {
    this.#files[lockClass].release(slot + waitingOffset);
  }

  /** Whether another process has announced that it waits for the place. */
  othersWait({ lockClass, slot }: LeaseSlot): boolean {
    const file = this.#files[lockClass];
    const waiting = slot + waitingOffset;
    if (!file.tryTake(waiting)) return true;
    file.release(waiting);
    return false;
  }

  close(): void {
    for (const name of classes) this.#files[name].close();
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
  return { lockClass: key.startsWith('root:') ? 'root' : 'file', slot: hash47(key) };
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

  /** As `tryTake`, but for one user of this process at a time. */
  takeAlone(slot: number): boolean {
    return !this.#users.has(slot) && this.tryTake(slot);
  }

  /** Harmless for a byte that was not taken. */
  release(slot: number): void {
    const users = this.#users.get(slot) ?? 0;
    if (users > 1) {
      this.#users.set(slot, users - 1);
      return;
    }
    if (this.#users.delete(slot)) this.#lock.release(slot);
  }

  close(): void {
    this.#lock.close();
  }
}
