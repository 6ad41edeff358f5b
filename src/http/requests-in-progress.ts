import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Deadline } from '../database/deadline';
import { ProblemError } from '../errors/errors';
import { EventLoopLag } from './event-loop-lag';

/** A caller may have a quarter of the requests in progress (contract, section 7), but never fewer than 16. */
const SHARES = 4;
const MIN_SHARE = 16;
/** `Retry-After` in seconds for a caller that has its share. */
export const RETRY_AFTER = 1;

/** Event loop lag, in milliseconds, from which on requests are rejected. */
const MAX_LAG_MS = 1000;
const MAX_SWEEP_MS = 250;
/** How much later than its deadline a request is answered, whatever it still waits for, in milliseconds. */
const GRACE_MS = 1_000;

/** Maximum number of unanswered requests on one connection: Node hands over all that one packet holds before anything else runs. */
const MAX_PIPELINED = 32;

/** What is known about a connection; kept on its socket. */
interface Connection {
  /** Requests that wait for their response. */
  waiting: number;
  /** The latest request, until its response is sent and its body has arrived. */
  latest: FastifyRequest | undefined;
}

const CONNECTION = Symbol('connection');
type KnownSocket = Socket & { [CONNECTION]?: Connection };

/** The place of one request or operation among those in progress. */
interface Slot {
  /** Position in the list; -1 once it is released. */
  index: number;
  /** The caller that it is counted against; `undefined` before that is known, and if it is rejected. */
  caller?: string;
  /** The response, until it is sent or the client has left; `undefined` for operations over WebSocket. */
  reply?: FastifyReply;
  isCounted: boolean;
  /** Whether it is answered with an error once it is overdue. */
  isTimed: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    slot: Slot;
    /** When its work has to end: when its time is up, or its client has gone. */
    deadline: Deadline;
    /** What its handler does, which may go on after the response is sent or the client has left. */
    work: Promise<unknown> | undefined;
    /** Whether the process was overloaded when it came: its key is not looked up, and it counts towards no quota and no ban. */
    isShed: boolean;
  }
}

/**
 * The requests in progress, from their head until the last byte of their response and the end of their handler's work, and
 * operations over WebSocket. It is the only bound on how much is done at once, for every transport. `@fastify/under-pressure`
 * counts no requests, and Fastify's `handlerTimeout` takes a timer for each, leaves out unknown paths, and cuts off streams.
 */
export class RequestsInProgress {
  /** Requests and operations that are counted. */
  count = 0;
  /** Operations over WebSocket among them: queries, mutations, and subscriptions that are starting. */
  operations = 0;
  /** Requests and operations rejected so far, because of overload or because their caller had its share. */
  rejected = 0;
  readonly lag = new EventLoopLag();
  isDraining = false;
  /** Whether every connection is closed with its next response. */
  isClosing = false;

  private readonly slots: Slot[] = [];
  /** How many are counted against each caller that has any. */
  private readonly perCaller = new Map<string, number>();
  private readonly share: number;

  /**
   * @param limitMs how long a request may take from its head on, until it is answered with 408 (body incomplete) or 503.
   * @param most how many there may be.
   */
  constructor(
    readonly limitMs: number,
    private readonly most: number,
  ) {
    this.share = Math.max(MIN_SHARE, Math.floor(most / SHARES));
  }

  /** Whether the process has more to do than it can. */
  get isOverloaded(): boolean {
    return this.count > this.most || this.lag.ms > MAX_LAG_MS;
  }

  /** Watches the handlers of all routes that are added from now on and, while the server is open, deadlines and lag. */
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
   * Gives a request a slot and a deadline.
   * @returns `false` if its connection is closed, or carries too many unanswered requests and is closed now.
   */
  start(request: FastifyRequest, reply: FastifyReply): boolean {
    const socket: KnownSocket = request.raw.socket;
    // What was sent together with one request too many goes nowhere.
    if (socket.destroyed) return false;
    socket[CONNECTION] ??= this.connect(socket);
    const connection = socket[CONNECTION];
    connection.waiting += 1;
    if (connection.waiting > MAX_PIPELINED) {
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
   * @returns why it is rejected; it then counts no more.
   */
  admit(slot: Slot, caller: string, isOverloaded: boolean): ProblemError | undefined {
    // The client has left while the caller was looked up.
    if (!slot.isCounted) return undefined;
    const count = (this.perCaller.get(caller) ?? 0) + 1;
    if (!isOverloaded && count <= this.share) {
      this.perCaller.set(caller, count);
      slot.caller = caller;
      return undefined;
    }
    this.rejected += 1;
    this.stopCounting(slot);
    if (isOverloaded) return new ProblemError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again shortly.');
    const message = `You have ${this.share} requests in progress, and a caller may not have more. Try again in ${RETRY_AFTER} second.`;
    return new ProblemError('RATE_LIMITED', message);
  }

  /** Runs an operation that did not arrive as an HTTP request. @param run is told why it is rejected, if it is. */
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

  /** Ends a request whose response is sent, or whose client has left. Its slot is kept until abandoned work has ended. */
  end({ slot, deadline, work, raw }: FastifyRequest): void {
    const { reply } = slot;
    if (!reply) return;
    slot.reply = undefined;
    deadline.end();
    const connection = (raw.socket as KnownSocket)[CONNECTION];
    if (connection) {
      connection.waiting -= 1;
      if (connection.latest?.raw.complete) connection.latest = undefined;
    }
    const isAbandoned = !slot.isTimed || !reply.raw.writableFinished;
    const release = () => this.release(slot);
    if (isAbandoned && work) work.then(release, release);
    else release();
  }

  /** Stops counting a request whose response continues for as long as the client listens. */
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

  /** One of the connection's responses that are not complete yet. */
  pendingOn(socket: Socket): FastifyReply | undefined {
    return this.slots.find(({ reply }) => reply?.request.raw.socket === socket)?.reply;
  }

  /** The request whose body has not arrived; its response may be sent. */
  arrivingOn(socket: KnownSocket): FastifyRequest | undefined {
    const request = socket[CONNECTION]?.latest;
    return request?.raw.complete ? undefined : request;
  }

  private connect(socket: Socket): Connection {
    // Node closes only the response whose turn it is: those behind it, to pipelined requests, have not got the socket yet.
    socket.once('close', () => {
      for (const { reply } of [...this.slots]) if (reply?.request.raw.socket === socket) this.end(reply.request);
    });
    return { waiting: 0, latest: undefined };
  }

  private take(reply?: FastifyReply): Slot {
    const slot: Slot = { index: this.slots.length, caller: undefined, reply, isCounted: true, isTimed: true };
    this.slots.push(slot);
    this.count += 1;
    return slot;
  }

  /** Removes a slot from the list; the last one takes its position. */
  private release(slot: Slot): void {
    this.stopCounting(slot);
    const last = this.slots.pop();
    if (!last || last === slot) return;
    this.slots[slot.index] = last;
    last.index = slot.index;
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

  /** Work is ended at its deadline, and mostly answers by itself. */
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
