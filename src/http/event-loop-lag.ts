const SAMPLE_MS = 100;
/** How much a sample weighs against those before it: one long pause alone is not overload, several in a row are. */
const WEIGHT = 1 / 3;

/** How late this process is with its work: by how much a timer misses its moment, smoothed. */
export class EventLoopLag {
  /** Milliseconds. */
  ms = 0;
  private due = 0;
  private timer: NodeJS.Timeout | undefined;

  start(): void {
    this.due = performance.now() + SAMPLE_MS;
    this.timer = setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private sample(): void {
    const now = performance.now();
    const late = Math.max(0, now - this.due);
    this.ms += WEIGHT * (late - this.ms);
    this.due = now + SAMPLE_MS;
  }
}
