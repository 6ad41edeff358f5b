import { type Server, Server as TcpServer } from 'node:net';
import { setImmediate as nextCheck, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { LiveOperations } from './live/live-operations';
import type { RequestsInProgress } from './requests-in-progress';

/** How long running requests may take to finish (contract, section 8). */
const FINISH_MS = 10_000;
/** How long idle connections are kept, since a request may be on its way. */
const IDLE_MS = 1_000;
/** How long the server goes on accepting connections that were opened before the port closes. */
const ACCEPT_MS = 5_000;
const POLL_MS = 20;

/**
 * Graceful shutdown in two steps: `closePort`, then `finish` closes the connections. A client whose connection is closed
 * opens a new one, which would be reset if the port closed just then. Workers that share a port therefore wait between
 * the steps.
 */
export class Drain {
  constructor(
    private readonly app: FastifyInstance,
    private readonly requests: RequestsInProgress,
    private readonly live: LiveOperations,
  ) {}

  /**
   * Turns readiness off and, `delayMs` later, stops accepting connections.
   * @param turn resolves after the process has had time to accept another connection.
   */
  async closePort(delayMs: number, turn = turnOfTheLoop): Promise<void> {
    this.app.log.info({ delayMs }, 'stopping: finishing accepted requests');
    this.requests.isDraining = true;
    await sleep(delayMs);
    await this.acceptAll(turn);
    // The close() of Node's HTTP server would also close idle connections, on which a request may be on its way.
    TcpServer.prototype.close.call(this.app.server);
  }

  /**
   * Closing the port resets connections that are not accepted yet. Node accepts as few as one connection in a turn of the
   * event loop, which on a busy machine may not have turned during the delay.
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
   * Answers requests on open connections, each of which closes with its response (`Connection: close`). Then closes all
   * connections. Ends subscriptions at once, so that their clients reconnect to another instance.
   */
  async finish(): Promise<void> {
    const { app, requests, live } = this;
    requests.isClosing = true;
    live.close();
    const start = performance.now();
    const isBusy = async () =>
      requests.count > 0 || (performance.now() < start + IDLE_MS && (await countConnections(app.server)) > 0);
    while (performance.now() < start + FINISH_MS && (await isBusy())) await sleep(POLL_MS);
    const unfinished = requests.count;
    // Also connections that never sent a request, which Node does not count as idle.
    app.server.closeAllConnections();
    await app.close();
    app.log.info({ unfinished }, 'stopped');
  }
}

/** Between two checks the event loop polls, and accepts connections. */
async function turnOfTheLoop(): Promise<void> {
  for (let check = 0; check < 3; check++) await nextCheck();
}

function countConnections(server: Server): Promise<number> {
  return promisify(server.getConnections).call(server);
}
