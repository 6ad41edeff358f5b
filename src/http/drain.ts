import { type Server, Server as TcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { LiveOperations } from './live-operations';
import type { RequestsInProgress } from './requests-in-progress';

/** How long what runs may take to finish (contract, section 8). */
const PATIENCE_MS = 10_000;
/** How long a connection that asks nothing is kept, for the request that may be on its way. */
const IDLE_MS = 1_000;
const LOOK_MS = 20;

/**
 * Closes a server without dropping what it has accepted, in two steps and in this order: a client whose connection is closed
 * makes a new one, which a port that closes just then would reset. Workers that share a port all close it before the second.
 */
export class Drain {
  constructor(
    private readonly app: FastifyInstance,
    private readonly requests: RequestsInProgress,
    private readonly live: LiveOperations,
  ) {}

  /** Readiness goes off, and `delayMs` later no more connections are taken. */
  async closePort(delayMs: number): Promise<void> {
    this.app.log.info({ delayMs }, 'stopping: what has been accepted is answered first');
    this.requests.isDraining = true;
    await sleep(delayMs);
    // Node's HTTP server would close connections that are idle at this moment, with a request on its way perhaps.
    TcpServer.prototype.close.call(this.app.server);
  }

  /**
   * Requests on connections that are open are answered, and their connections closed with the answer. Subscriptions are
   * ended, for their clients to come back to another instance.
   */
  async finish(): Promise<void> {
    const { app, requests, live } = this;
    requests.isClosing = true;
    live.close();
    const start = performance.now();
    const isBusy = async () =>
      requests.count > 0 || (performance.now() < start + IDLE_MS && (await connectionsOf(app.server)) > 0);
    while (performance.now() < start + PATIENCE_MS && (await isBusy())) await sleep(LOOK_MS);
    const unfinished = requests.count;
    // Those that asked nothing too, which Node does not call idle.
    app.server.closeAllConnections();
    await app.close();
    app.log.info({ unfinished }, 'stopped');
  }
}

function connectionsOf(server: Server): Promise<number> {
  return promisify(server.getConnections).call(server);
}
