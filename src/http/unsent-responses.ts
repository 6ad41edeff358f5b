import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../errors/errors';
import { HeldByCaller, type Holder } from './held-by-caller';
import { readSendQueues, sendQueueKey } from './kernel-send-queues';

const MIB = 1024 * 1024;
/** Maximum number of unsent bytes of one caller. */
const MAX_PER_CALLER = 16 * MIB;
/** While more than this number of bytes are unsent in total, callers with more than `FEW` unsent bytes get 503. */
const MAX_BEFORE_SHEDDING = 64 * MIB;
/** While more than this number of bytes are unsent in total, the connections that have stalled longest are closed. */
const MAX_TOTAL = 128 * MIB;
/** A caller that reads its responses may have this many unsent bytes, since its latest responses are still on their way. */
const FEW = 64 * 1024;
/** An estimate of the memory that a response without its body takes. */
const HEAD = 1024;

/** How long a connection may make no progress, in milliseconds. */
const MAX_STALLED_MS = 60_000;
/** Interval between checks of connections that make no progress. */
const CHECK_MS = 5_000;
/**
 * The bytes that count after a connection was closed because of too many requests, and how long they count, in milliseconds.
 */
const PER_CLOSED = MIB;
const COUNTED_MS = 10_000;

/**
 * Counts the bytes of responses that the process keeps because their clients have not read them, and bounds them. Without
 * these bounds, clients that never read could fill the memory, since a response that has begun has no deadline.
 */
export class UnsentResponses {
  /** The number of unsent bytes of all responses. */
  total = 0;
  /** The number of connections that were closed because their clients did not read. */
  closed = 0;
  private readonly bytes = new HeldByCaller();
  private readonly connections = new WeakMap<Socket, Connection>();
  /** The connections with unsent responses. */
  private readonly busy = new Set<Connection>();

  /** @param countedMs how long the bytes of a connection still count after it was closed because of too many requests. */
  constructor(private readonly countedMs = COUNTED_MS) {}

  /**
   * Counts a response until it is released.
   * @param bytes the size of the body without buffers that other responses share.
   */
  hold(caller: Holder, socket: Socket, bytes: number): UnsentResponse {
    let connection = this.connections.get(socket);
    if (!connection) {
      connection = new Connection(socket);
      this.connections.set(socket, connection);
    }
    const response = new UnsentResponse(this, caller, connection);
    connection.responses.add(response);
    this.busy.add(connection);
    response.resize(bytes, HEAD);
    return response;
  }

  /**
   * The error for an operation that starts, or for a response that is ready, while its caller or all callers together have
   * too many unsent bytes; `undefined` otherwise.
   */
  rejectionOf(caller: Holder): ProblemError | undefined {
    const unsent = this.bytes.of(caller);
    if (unsent > MAX_PER_CALLER) return new ProblemError('RATE_LIMITED', TOO_MUCH);
    if (unsent > FEW && this.total > MAX_BEFORE_SHEDDING) return new ProblemError('SERVICE_UNAVAILABLE', SHED);
    return undefined;
  }

  /** Closes connections that make no progress, until the server closes. */
  watch(app: FastifyInstance): void {
    // Without this listener, Node would also close slow readers: Node does not see the progress of bytes that the kernel has
    // accepted.
    app.server.on('timeout', (socket: Socket) => {
      if (!this.connections.get(socket)?.responses.size) socket.destroy();
    });
    let checking: NodeJS.Timeout | undefined;
    app.addHook('onReady', async () => {
      checking = setInterval(() => void this.closeStalled(), CHECK_MS).unref();
    });
    app.addHook('onClose', async () => {
      clearInterval(checking);
    });
  }

  /** Called by a response whose number of unsent bytes changes. */
  add(caller: Holder, bytes: number): void {
    this.total += bytes;
    this.bytes.add(caller, bytes);
    if (bytes > 0) while (this.total > MAX_TOTAL && this.closeLongestStalled());
  }

  /** Called by a response that is sent or abandoned. */
  remove(response: UnsentResponse, connection: Connection): void {
    if (connection.responses.delete(response) && connection.responses.size === 0) this.busy.delete(connection);
  }

  private closeLongestStalled(): boolean {
    let longest: Connection | undefined;
    for (const connection of this.busy) {
      const isLonger = !longest || connection.progressedAt < longest.progressedAt;
      if (isLonger && connection.bytes > 0) longest = connection;
    }
    if (longest) this.close(longest);
    return longest !== undefined;
  }

  private async closeStalled(): Promise<void> {
    const quiet = [...this.busy].filter(({ bytes, quietMs }) => bytes > 0 && quietMs >= CHECK_MS);
    if (quiet.length === 0) return;
    const queues = await readSendQueues();
    for (const connection of quiet) {
      connection.compareQueue(queues);
      if (connection.quietMs > MAX_STALLED_MS) this.close(connection);
    }
  }

  /**
   * Closes a connection on which too many requests have arrived. The connection's unsent bytes, and `PER_CLOSED` for responses
   * that were about to be made, then count towards the limit of the caller for some time. Otherwise the client could connect
   * again, and cause as many further responses without reading them.
   */
  closeFlooded(socket: Socket, caller: Holder | undefined): void {
    const bytes = PER_CLOSED + (this.connections.get(socket)?.bytes ?? 0);
    socket.destroy();
    if (!caller) return;
    this.bytes.add(caller, bytes);
    setTimeout(() => this.bytes.add(caller, -bytes), this.countedMs).unref();
  }

  private close(connection: Connection): void {
    this.closed += 1;
    connection.socket.destroy();
    for (const response of connection.responses) response.release();
  }
}

const TOO_MUCH = `More than ${MAX_PER_CALLER / MIB} MiB of responses to this caller are unread. Read them, and try again.`;
const SHED = 'The service is short of memory, because clients do not read their responses. Read yours, and try again.';

/** A response that its client has not read completely. */
export class UnsentResponse {
  private bytes = 0;

  constructor(
    private readonly all: UnsentResponses,
    private readonly caller: Holder,
    private readonly connection: Connection,
  ) {}

  /** The error if the caller of this response has too many unsent bytes. */
  get rejection(): ProblemError | undefined {
    return this.all.rejectionOf(this.caller);
  }

  /** Changes the number of unsent bytes of the body. A lower number counts as progress. */
  resize(bytes: number, head = bytes > 0 ? HEAD : 0): void {
    const before = this.bytes;
    this.change(head + bytes);
    if (this.bytes < before) this.connection.progress();
  }

  /** Called when the response is sent, or its client has disconnected. Further calls do nothing. */
  release(): void {
    this.resize(0);
    this.all.remove(this, this.connection);
  }

  /**
   * Called when nothing of the response will be sent, or when the response is counted elsewhere. This does not count as
   * progress.
   */
  cancel(): void {
    this.change(0);
    this.all.remove(this, this.connection);
  }

  private change(bytes: number): void {
    const difference = bytes - this.bytes;
    if (difference === 0 || !this.connection.responses.has(this)) return;
    if (this.connection.bytes === 0) this.connection.progress();
    this.bytes = bytes;
    this.connection.bytes += difference;
    this.all.add(this.caller, difference);
  }
}

/** A connection with the time of its latest progress. */
class Connection {
  readonly responses = new Set<UnsentResponse>();
  bytes = 0;
  progressedAt = 0;
  /** The size of the kernel's send queue when it was last read. */
  private queue: number | undefined;
  private queueKey: string | undefined;

  constructor(readonly socket: Socket) {}

  get quietMs(): number {
    return performance.now() - this.progressedAt;
  }

  progress(): void {
    this.progressedAt = performance.now();
  }

  /**
   * Counts a shorter send queue as progress. The kernel may accept several megabytes at once. A slow reader then makes no
   * progress that the process can see for minutes.
   */
  compareQueue(queues: ReadonlyMap<string, number>): void {
    this.queueKey ??= sendQueueKey(this.socket);
    const queue = this.queueKey === undefined ? undefined : queues.get(this.queueKey);
    if (queue !== undefined && this.queue !== undefined && queue < this.queue) this.progress();
    this.queue = queue;
  }
}
