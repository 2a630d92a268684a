/**
 * First in, first out per key, in memory. A ticket names several keys and has its turn when it is the first in the queue of each.
 * Tickets join all their queues in one step, so they stand in the same order everywhere and cannot wait for each other in a
 * circle.
 */
export class TicketQueue {
  readonly #queues = new Map<string, Ticket[]>();

  /** Joins the queues. `onTurn` is called later, at most once; a ticket that has its turn at once is returned with `turn` true. */
  join(keys: readonly string[], onTurn: () => void): Ticket {
    const ticket: Ticket = { keys, onTurn, ahead: 0, turn: false, handovers: 0 };
    for (const key of keys) {
      const queue = this.#queues.get(key);
      if (queue === undefined) {
        this.#queues.set(key, [ticket]);
        continue;
      }
      queue.push(ticket);
      ticket.ahead += 1;
    }
    ticket.turn = ticket.ahead === 0;
    return ticket;
  }

  /** Leaves every queue, whether it had its turn or not, and gives the turn to those that now stand first everywhere. */
  leave(ticket: Ticket): void {
    for (const key of ticket.keys) {
      const queue = this.#queues.get(key);
      const place = queue?.indexOf(ticket) ?? -1;
      if (queue === undefined || place < 0) continue;
      queue.splice(place, 1);
      const first = queue[0];
      if (first === undefined) this.#queues.delete(key);
      else if (place === 0) this.#advance(first, ticket);
    }
  }

  #advance(ticket: Ticket, before: Ticket): void {
    ticket.ahead -= 1;
    ticket.handovers = Math.max(ticket.handovers, before.handovers + 1);
    if (ticket.ahead > 0) return;
    ticket.turn = true;
    ticket.onTurn();
  }

  /** Tickets that have this key or wait for it. */
  depth(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  keys(): readonly string[] {
    return [...this.#queues.keys()];
  }
}

export interface Ticket {
  readonly keys: readonly string[];
  readonly onTurn: () => void;
  /** In how many queues somebody stands before it. */
  ahead: number;
  turn: boolean;
  /** How many turns in a row went from one waiting ticket to the next before this one. */
  handovers: number;
}
