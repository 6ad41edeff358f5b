import type { Samples } from '../http/metrics';
import type { Report } from './banner';

/** What the primary asks of a worker. */
export interface WorkerCalls {
  samples(): Promise<Samples>;
  /** Takes no more connections, once the port's delay is over. */
  closePort(): Promise<void>;
  /** Answers what it has accepted, and ends. */
  finish(): void;
}

/** What a worker tells the primary, and asks of it. */
export interface PrimaryCalls {
  /** It takes connections now. */
  serving(report: Report): void;
  /** It cannot start, and ends. */
  failed(reason: string): void;
  /** The metrics of all workers together. */
  metrics(): Promise<string>;
}

/** Whoever closes a port waits for as long as its delay is, and who waits for one that ends is told. */
export const NO_TIMEOUT = -1;
