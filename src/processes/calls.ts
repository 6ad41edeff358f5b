import type { Worker } from 'node:cluster';
import type { ChannelOptions } from 'birpc';
import type { Samples } from '../http/observation/metrics';
import type { Report } from './banner';

/** Calls from the primary to a worker. */
export interface WorkerCalls {
  samples(): Promise<Samples>;
  /** Turns readiness off and, after the shutdown delay, stops accepting connections. */
  closePort(): Promise<void>;
  /** Answers what it has accepted, and exits. */
  finish(): void;
}

/** Calls from a worker to the primary. */
export interface PrimaryCalls {
  serving(report: Report): void;
  failed(reason: string): void;
  metrics(): Promise<string>;
  /** Resolves once the primary has accepted the connections that the system held, and passed one on to this worker. */
  accepted(): Promise<void>;
}

/** Calls over Node's own channel, by birpc: Node sends messages, but knows no replies to them. */
export function channelTo(worker: Worker): ChannelOptions & { timeout: number } {
  return {
    post: (message) => void (worker.isConnected() && worker.send(message, () => undefined)),
    on: (listener) => worker.on('message', listener),
    // Closing the port takes as long as the shutdown delay, and calls to a worker that ends are rejected.
    timeout: -1,
  };
}
