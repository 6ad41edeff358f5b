import type { FastifyInstance } from 'fastify';

const SAMPLE_MS = 100;
const SAMPLES = 3;

/** Event loop lag of this process: how late a timer fires. */
export class EventLoopLag {
  /** The lag in milliseconds: the minimum of the last samples, so that a single pause does not count as overload. */
  ms = 0;
  private readonly samples = new Array<number>(SAMPLES).fill(0);
  private due = 0;

  /** Starts measuring when the server is ready, since lag during startup is not overload. Stops when the server closes. */
  watch(app: FastifyInstance): void {
    let timer: NodeJS.Timeout | undefined;
    app.addHook('onReady', async () => {
      this.due = performance.now() + SAMPLE_MS;
      timer = setInterval(() => this.sample(), SAMPLE_MS).unref();
    });
    app.addHook('onClose', async () => clearInterval(timer));
  }

  private sample(): void {
    const now = performance.now();
    this.samples.shift();
    this.samples.push(Math.max(0, now - this.due));
    this.ms = Math.min(...this.samples);
    this.due = now + SAMPLE_MS;
  }
}
