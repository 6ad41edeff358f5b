import { type Server, Server as TcpServer } from 'node:net';
import { setImmediate as nextCheck, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { LiveOperations } from './live/live-operations';
import type { RequestsInProgress } from './requests-in-progress';

/** How long running requests may take to finish (docs/operations.md). */
const FINISH_MS = 10_000;
/** How long idle connections stay open during shutdown. A client may have sent a request that has not arrived yet. */
const IDLE_MS = 1_000;
/** Maximum time to accept connections that clients have already opened, before the port closes. */
const ACCEPT_MS = 5_000;
const POLL_MS = 20;

/**
 * Graceful shutdown in two steps: `closePort` stops listening, and `finish` closes the connections. Workers that share
 * a port wait between the steps, so that all of them have stopped listening before any connection is closed. When a
 * connection is closed, its client opens a new connection. A worker that is closing the port would reset this connection.
 */
export class Drain {
  constructor(
    private readonly app: FastifyInstance,
    private readonly requests: RequestsInProgress,
    private readonly live: LiveOperations,
  ) {}

  /**
   * Makes `/readyz` fail and, `delayMs` later, stops accepting connections.
   * @param turn waits until the process has had time to accept further connections.
   */
  async closePort(delayMs: number, turn = turnOfTheLoop): Promise<void> {
    this.app.log.info({ delayMs }, 'stopping: finishing accepted requests');
    this.requests.isDraining = true;
    await sleep(delayMs);
    await this.acceptAll(turn);
    // Node's `http.Server.close()` would also close idle connections, although a request may be arriving on them.
    TcpServer.prototype.close.call(this.app.server);
  }

  /**
   * Accepts the connections that clients have already opened. Closing the port would reset all connections that are not
   * accepted yet. Node may accept only one connection per iteration of the event loop. On a busy machine, `delayMs` may be
   * too short for many iterations.
   */
  private async acceptAll(turn: () => Promise<void>): Promise<void> {
    const end = performance.now() + ACCEPT_MS;
    let isAccepting = true;
    this.app.server.on('connection', () => {
      isAccepting = true;
    });
    while (isAccepting && performance.now() < end) {
      isAccepting = false;
      await turn();
    }
  }

  /**
   * Ends subscriptions at once, so that their clients reconnect to another instance. Requests that still arrive on
   * open connections get responses with `Connection: close`. Then closes all connections.
   */
  async finish(): Promise<void> {
    const { app, requests, live } = this;
    requests.isClosing = true;
    live.close();
    const start = performance.now();
    const isBusy = async () =>
      requests.count > 0 ||
      requests.unsent.total > 0 ||
      (performance.now() < start + IDLE_MS && (await countConnections(app.server)) > 0);
    while (performance.now() < start + FINISH_MS && (await isBusy())) await sleep(POLL_MS);
    const unfinished = requests.count;
    // This also closes connections on which no request was ever sent. `closeIdleConnections` would keep them.
    app.server.closeAllConnections();
    await app.close();
    app.log.info({ unfinished }, 'stopped');
  }
}

/**
 * Waits for three check phases of the event loop. Between two check phases, the event loop polls and accepts connections.
 */
async function turnOfTheLoop(): Promise<void> {
  for (let check = 0; check < 3; check++) await nextCheck();
}

function countConnections(server: Server): Promise<number> {
  return promisify(server.getConnections).call(server);
}
