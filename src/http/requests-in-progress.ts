import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Deadline } from '../database/deadline';
import { ProblemError } from '../errors/errors';
import { EventLoopLag } from './event-loop-lag';

/** A caller may have a quarter of the requests in progress (contract, section 7), and at least 16. */
const CALLER_FRACTION = 1 / 4;
const MIN_PER_CALLER = 16;
/** `Retry-After` in seconds for a caller at its limit. */
export const RETRY_AFTER = 1;

/** Maximum event loop lag in milliseconds; above it requests are rejected. */
const MAX_LAG_MS = 1000;
const MAX_SWEEP_MS = 250;
/** How long after its deadline a request is answered with an error if its handler has not responded, in milliseconds. */
const GRACE_MS = 1_000;

/** Maximum number of unanswered requests on a connection: Node emits all pipelined requests of a packet before anything else runs. */
const MAX_PIPELINED = 32;

/** The state of a connection, as a property of its socket. */
interface Connection {
  /** The number of unanswered requests. */
  unanswered: number;
  /** The latest request, until its response is sent and its body has arrived. */
  latest: FastifyRequest | undefined;
}

const CONNECTION = Symbol('connection');
type KnownSocket = Socket & { [CONNECTION]?: Connection };

/** The slot of a request or operation in progress. */
interface Slot {
  /** The caller that it is counted against; `undefined` before the caller is known, and if the request is rejected. */
  caller?: string;
  /** The response, until it is sent or the client disconnects; `undefined` for operations over WebSocket. */
  reply?: FastifyReply;
  isCounted: boolean;
  /** Whether it is answered with an error after its deadline. */
  isTimed: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    slot: Slot;
    /** When its work has to end: after the time limit, or when the client disconnects. */
    deadline: Deadline;
    /** The promise of its handler, which may run on after the response is sent or the client has disconnected. */
    work: Promise<unknown> | undefined;
    /** Whether it is rejected because of the load: its key is not looked up, and it counts towards no quota and no ban. */
    isShed: boolean;
  }
}

/**
 * The requests in progress, from their headers until the response is sent and the handler has ended, and the operations over
 * WebSocket. This is the only limit on concurrency, for every transport. `@fastify/under-pressure` counts no requests.
 * Fastify's `handlerTimeout` takes a timer per request, does not cover unknown paths, and aborts streams.
 */
export class RequestsInProgress {
  /** The number of counted requests and operations. */
  count = 0;
  /** The number of operations over WebSocket among them: queries, mutations, and subscriptions that are starting. */
  operations = 0;
  /** Requests and operations rejected so far, because of overload or the limit per caller. */
  rejected = 0;
  readonly lag = new EventLoopLag();
  isDraining = false;
  /** Whether every connection is closed with its next response. */
  isClosing = false;

  private readonly slots = new Set<Slot>();
  /** The number of counted requests and operations by caller. */
  private readonly perCaller = new Map<string, number>();
  private readonly mostPerCaller: number;

  /**
   * @param limitMs how long a request may take from its headers on; after it the response is 408 (body incomplete) or 503.
   * @param most the maximum number of requests in progress.
   */
  constructor(
    readonly limitMs: number,
    private readonly most: number,
  ) {
    this.mostPerCaller = Math.max(MIN_PER_CALLER, Math.floor(most * CALLER_FRACTION));
  }

  get isOverloaded(): boolean {
    return this.count > this.most || this.lag.ms > MAX_LAG_MS;
  }

  /** Records the promises of all handlers that are added later and, while the server is open, checks deadlines and lag. */
  watch(app: FastifyInstance): void {
    for (const name of ['slot', 'work', 'deadline', 'isShed']) app.decorateRequest(name);
    app.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = function (request, reply) {
        const work = handler.call(this, request, reply);
        if (work instanceof Promise) request.work = work;
        return work;
      };
    });
    let sweep: NodeJS.Timeout | undefined;
    this.lag.watch(app);
    app.addHook('onReady', async () => {
      sweep = setInterval(() => this.sweep(), Math.min(MAX_SWEEP_MS, this.limitMs / 4)).unref();
    });
    app.addHook('onClose', async () => {
      clearInterval(sweep);
    });
  }

  /**
   * Takes a slot for a request, and starts its deadline.
   * @returns `false` if its connection is closed, or carries too many unanswered requests and is closed now.
   */
  start(request: FastifyRequest, reply: FastifyReply): boolean {
    const socket: KnownSocket = request.raw.socket;
    // The other requests of a packet that had too many.
    if (socket.destroyed) return false;
    socket[CONNECTION] ??= this.connect(socket);
    const connection = socket[CONNECTION];
    connection.unanswered += 1;
    if (connection.unanswered > MAX_PIPELINED) {
      socket.destroy();
      return false;
    }
    connection.latest = request;
    request.deadline = new Deadline(this.limitMs);
    request.slot = this.take(reply);
    request.isShed = this.isOverloaded;
    return true;
  }

  /**
   * Counts a request or an operation against its caller, once that is known.
   * @returns why it is rejected; it is no longer counted then.
   */
  admit(slot: Slot, caller: string, isOverloaded: boolean): ProblemError | undefined {
    // The client disconnected during the look-up of the caller.
    if (!slot.isCounted) return undefined;
    const count = (this.perCaller.get(caller) ?? 0) + 1;
    if (!isOverloaded && count <= this.mostPerCaller) {
      this.perCaller.set(caller, count);
      slot.caller = caller;
      return undefined;
    }
    this.rejected += 1;
    this.stopCounting(slot);
    if (isOverloaded) return new ProblemError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again shortly.');
    const message = `At most ${this.mostPerCaller} requests of a caller may be in progress. Try again in ${RETRY_AFTER} second.`;
    return new ProblemError('RATE_LIMITED', message);
  }

  /** Runs an operation that did not arrive as an HTTP request. @param run gets the reason if the operation is rejected. */
  async during<Result>(caller: string, run: (rejection?: ProblemError) => Promise<Result>): Promise<Result> {
    const slot = this.take();
    this.operations += 1;
    try {
      return await run(this.admit(slot, caller, this.isOverloaded));
    } finally {
      this.operations -= 1;
      this.release(slot);
    }
  }

  /** Ends a request after its response is sent or its client has disconnected. A handler that still runs keeps the slot. */
  end({ slot, deadline, work, raw }: FastifyRequest): void {
    const { reply } = slot;
    if (!reply) return;
    slot.reply = undefined;
    deadline.end();
    const connection = (raw.socket as KnownSocket)[CONNECTION];
    if (connection) {
      connection.unanswered -= 1;
      if (connection.latest?.raw.complete) connection.latest = undefined;
    }
    const isAbandoned = !slot.isTimed || !reply.raw.writableFinished;
    const release = () => this.release(slot);
    if (isAbandoned && work) work.then(release, release);
    else release();
  }

  /** Stops counting a request that has become a WebSocket or an event stream. */
  stopCounting(slot: Slot): void {
    slot.isTimed = false;
    if (!slot.isCounted) return;
    slot.isCounted = false;
    this.count -= 1;
    if (slot.caller === undefined) return;
    const left = (this.perCaller.get(slot.caller) ?? 1) - 1;
    if (left > 0) this.perCaller.set(slot.caller, left);
    else this.perCaller.delete(slot.caller);
  }

  /** A response on the connection that is not complete yet. */
  pendingOn(socket: Socket): FastifyReply | undefined {
    for (const { reply } of this.slots) if (reply?.request.raw.socket === socket) return reply;
    return undefined;
  }

  /** The request on the connection whose body is incomplete. Its response may have been sent. */
  arrivingOn(socket: KnownSocket): FastifyRequest | undefined {
    const request = socket[CONNECTION]?.latest;
    return request?.raw.complete ? undefined : request;
  }

  private connect(socket: Socket): Connection {
    // Node closes only the first of several pipelined responses: the others are not yet assigned to the socket.
    socket.once('close', () => {
      for (const { reply } of [...this.slots]) if (reply?.request.raw.socket === socket) this.end(reply.request);
    });
    return { unanswered: 0, latest: undefined };
  }

  private take(reply?: FastifyReply): Slot {
    const slot: Slot = { caller: undefined, reply, isCounted: true, isTimed: true };
    this.slots.add(slot);
    this.count += 1;
    return slot;
  }

  private release(slot: Slot): void {
    this.stopCounting(slot);
    this.slots.delete(slot);
  }

  private sweep(): void {
    for (const slot of [...this.slots]) {
      const { reply } = slot;
      if (!reply || !slot.isTimed || reply.elapsedTime < this.limitOf(reply)) continue;
      slot.isTimed = false;
      // A response that has begun, such as a stream, may continue for as long as the client reads.
      if (!reply.sent && !reply.raw.headersSent) reply.send(overdue(reply));
    }
  }

  /** The deadline ends the handler's work, which mostly responds by itself within the grace. */
  private limitOf({ request }: FastifyReply): number {
    return request.raw.complete === false ? this.limitMs : this.limitMs + GRACE_MS;
  }
}

function overdue(reply: FastifyReply): ProblemError {
  if (reply.request.raw.complete !== false)
    return new ProblemError('SERVICE_UNAVAILABLE', 'The request took too long and was abandoned.');
  reply.raw.setHeader('Connection', 'close');
  return new ProblemError('REQUEST_TIMEOUT', 'The request took too long to arrive.');
}
