const SAMPLE_MS = 100;
const SAMPLES = 3;

/** How late this process is with its work: by how much a timer misses its moment. */
export class EventLoopLag {
  /** Milliseconds, the least of the last samples: a pause is not overload, however long, being late again and again is. */
  ms = 0;
  private readonly samples = new Array<number>(SAMPLES).fill(0);
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
    this.samples.shift();
    this.samples.push(Math.max(0, now - this.due));
    this.ms = Math.min(...this.samples);
    this.due = now + SAMPLE_MS;
  }
}
