import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** What the thread that watches is given. */
export interface Watch {
  /** One number, which changes with every turn of the event loop that is timed. */
  readonly beats: SharedArrayBuffer;
  readonly limitMs: number;
}

/** How many beats there are within the limit. */
export const BEATS = 10;

/**
 * Ends the process once its event loop has not turned for `limitMs`: it answers nothing then, not even signals, and only a
 * supervisor can help, by starting it again. Another thread watches.
 * @param limitMs 0 does nothing.
 */
export function startWatchdog(limitMs: number): void {
  if (!limitMs) return;
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  setInterval(() => Atomics.add(counter, 0, 1), limitMs / BEATS).unref();
  const workerData: Watch = { beats, limitMs };
  const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  new Worker(join(__dirname, 'watchdog-thread'), { workerData, resourceLimits: limits }).unref();
}
