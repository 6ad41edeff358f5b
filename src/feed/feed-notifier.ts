import type { EventNumbering } from './event-numbering';

/** Interval between searches for new events while there are listeners, in milliseconds. Announcements may be lost. */
const POLL_MS = 1_000;
/**
 * Minimum interval between two searches, in milliseconds. Each search assigns positions to all events since the last search.
 */
const PACE_MS = 100;

/** Tells listeners in this process when events of the change feed have got positions. Does nothing without listeners. */
export class FeedNotifier {
  private readonly listeners = new Set<() => void>();
  private polling: NodeJS.Timeout | undefined;
  private announced: NodeJS.Timeout | undefined;
  private lookedAt = 0;
  /** The last position about which the listeners were notified. */
  private position: bigint | undefined;

  constructor(private readonly numbering: EventNumbering) {}

  /** Calls the listener whenever there may be new events. @returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    this.polling ??= setInterval(() => void this.look(), POLL_MS).unref();
    return () => {
      this.listeners.delete(listener);
      if (!this.listeners.size) this.stop();
    };
  }

  /** Schedules a search for new events. Call it when this or another instance may have committed events. */
  announce(): void {
    if (!this.listeners.size || this.announced) return;
    const wait = this.lookedAt + PACE_MS - performance.now();
    this.announced = setTimeout(() => void this.look(), Math.max(0, wait));
  }

  stop(): void {
    clearInterval(this.polling);
    clearTimeout(this.announced);
    this.polling = undefined;
    this.announced = undefined;
  }

  private async look(): Promise<void> {
    clearTimeout(this.announced);
    this.announced = undefined;
    this.lookedAt = performance.now();
    // After a failure, the next search finds the events.
    await this.numbering.run().catch(() => undefined);
    const { position } = this.numbering;
    if (position === this.position) return;
    this.position = position;
    for (const listener of this.listeners) listener();
  }
}
