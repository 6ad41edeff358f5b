import type { FastifyReply } from 'fastify';
import type { Caller } from '../graphql/caller';

/** Whoever has a slot: its caller may become known later. */
export interface Holder {
  readonly caller: Caller;
}

/** The place of one request or operation. */
export interface Slot {
  readonly index: number;
  readonly holder: Holder;
  /** Its response, until that is sent or the client has left; `undefined` for operations over WebSocket. */
  reply?: FastifyReply;
  isCounted: boolean;
  /** Whether it is ended when it is overdue. */
  isTimed: boolean;
}

/**
 * The places of what is in progress, which are reused: entries of a `Set` with this much churn would outlive their request
 * until the next full garbage collection.
 */
export class Slots {
  private readonly slots: (Slot | undefined)[] = [];
  private readonly free: number[] = [];
  private uncounted = 0;

  get count(): number {
    return this.slots.length - this.free.length - this.uncounted;
  }

  /** Those that are taken. */
  get taken(): readonly Slot[] {
    return this.slots.filter((slot) => slot !== undefined);
  }

  take(holder: Holder, reply?: FastifyReply): Slot {
    const index = this.free.pop() ?? this.slots.length;
    const slot = { index, holder, reply, isCounted: true, isTimed: true };
    this.slots[index] = slot;
    return slot;
  }

  give({ index, isCounted }: Slot): void {
    this.slots[index] = undefined;
    this.free.push(index);
    if (!isCounted) this.uncounted -= 1;
  }

  /** Stops counting one, unless it was given back. */
  release(slot: Slot): void {
    if (!slot.isCounted || this.slots[slot.index] !== slot) return;
    slot.isTimed = false;
    slot.isCounted = false;
    this.uncounted += 1;
  }
}
