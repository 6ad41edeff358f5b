import { type Server, Server as TcpServer } from 'node:net';
import { setImmediate as nextCheck, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { LiveOperations } from './live/live-operations';
import type { RequestsInProgress } from './requests-in-progress';

/** How long running requests may take to finish (contract, section 8). */
const PATIENCE_MS = 10_000;
/** How long idle connections are kept, since a request may be on its way. */
const IDLE_MS = 1_000;
const POLL_MS = 20;
/** How long, and how many turns, it may take to accept connections that were opened before: Node accepts as few as one a turn. */
const ACCEPTING_MS = 5_000;
const ACCEPTING_TURNS = 600;

/**
 * Closes a server without dropping what it has accepted, in two steps: first the port, then the connections. A client
 * whose connection is closed opens a new one, which would be reset if the port closed just then. Workers that share a
 * port therefore wait between the steps.
 */
export class Drain {
  constructor(
    private readonly app: FastifyInstance,
    private readonly requests: RequestsInProgress,
    private readonly live: LiveOperations,
  ) {}

  /**
   * Turns readiness off and, `delayMs` later, stops accepting connections.
   * @param turn resolves once connections that the system holds ready have been accepted.
   */
  async closePort(delayMs: number, turn = turnOfTheLoop): Promise<void> {
    this.app.log.info({ delayMs }, 'stopping: finishing accepted requests');
    this.requests.isDraining = true;
    await sleep(delayMs);
    await this.acceptAll(turn);
    // The close() of Node's HTTP server would also close idle connections, on which a request may be on its way.
    TcpServer.prototype.close.call(this.app.server);
  }

  /** Closing the port resets connections not yet accepted: on a busy machine the delay may be over before the loop has turned. */
  private async acceptAll(turn: () => Promise<void>): Promise<void> {
    const end = performance.now() + ACCEPTING_MS;
    let accepted = 0;
    this.app.server.on('connection', () => accepted++);
    for (let turns = 0, before = -1; before !== accepted && turns < ACCEPTING_TURNS; turns++) {
      if (performance.now() > end) return;
      before = accepted;
      await turn();
    }
  }

  /**
   * Answers requests on open connections, closing each connection with its response. Ends subscriptions, so that their
   * clients reconnect to another instance.
   */
  async finish(): Promise<void> {
    const { app, requests, live } = this;
    requests.isClosing = true;
    live.close();
    const start = performance.now();
    const isBusy = async () =>
      requests.count > 0 || (performance.now() < start + IDLE_MS && (await connectionsOf(app.server)) > 0);
    while (performance.now() < start + PATIENCE_MS && (await isBusy())) await sleep(POLL_MS);
    const unfinished = requests.count;
    // Also connections that never sent a request, which Node does not count as idle.
    app.server.closeAllConnections();
    await app.close();
    app.log.info({ unfinished }, 'stopped');
  }
}

/** Between two checks the event loop polls, and accepts what the system has. */
async function turnOfTheLoop(): Promise<void> {
  for (let check = 0; check < 3; check++) await nextCheck();
}

function connectionsOf(server: Server): Promise<number> {
  return promisify(server.getConnections).call(server);
}
