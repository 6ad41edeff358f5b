import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Deadline } from '../database/deadline';
import { ProblemError } from '../errors/errors';
import { type Holder, type Slot, Slots } from './slots';

const MAX_SWEEP_MS = 250;

/** How much later than its deadline a request is answered, whatever it still waits for, in milliseconds. */
const GRACE_MS = 1_000;

/** Maximum number of requests that wait on one connection. What it sends at once may hold hundreds, all handled before others. */
const MOST_PIPELINED = 32;

const CARRIED = Symbol('how many requests have come on this connection');
const WAITING = Symbol('how many requests on this connection wait for their response');
const ARRIVING = Symbol('the request whose body may still arrive');
type Counted = Socket & { [CARRIED]?: number; [WAITING]?: number; [ARRIVING]?: FastifyRequest };

declare module 'fastify' {
  interface FastifyRequest {
    slot: Slot;
    /** When its work has to end: when its time is up, or its client has gone. */
    deadline: Deadline;
    /** What its handler does, which may go on after the response is sent or the client has left. */
    work: Promise<unknown> | undefined;
  }
}

/**
 * The requests in progress, from their head until the last byte of their response and the end of their handler's work, and
 * operations over WebSocket.
 */
export class RequestsInProgress {
  private readonly slots = new Slots();
  /** Operations over WebSocket in progress: queries, mutations, and subscriptions that are starting. */
  operations = 0;
  isDraining = false;
  /** Whether every connection is closed with its next response. */
  isClosing = false;

  /**
   * @param limitMs how long a request may take from its head on, until it is answered with 408 (body incomplete) or 503.
   * @param perConnection how many one connection may carry. Node's own limit would answer further ones past all hooks.
   */
  constructor(
    readonly limitMs: number,
    private readonly perConnection: number,
  ) {}

  get count(): number {
    return this.slots.count;
  }

  /** How many of them are a caller's. Looks at each, so that the others cost nothing until somebody asks. */
  countOf(caller: string): number {
    return this.slots.taken.filter(({ isCounted, holder }) => isCounted && holder.caller.id === caller).length;
  }

  /**
   * Must be the first hook of all. All requests are checked periodically: Fastify's `handlerTimeout` would take a timer for
   * each, leave out unknown paths, and cut off streams.
   */
  track(app: FastifyInstance): void {
    for (const name of ['slot', 'work', 'deadline']) app.decorateRequest(name);
    app.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = function (request, reply) {
        const work = handler.call(this, request, reply);
        if (work instanceof Promise) request.work = work;
        return work;
      };
    });
    app.addHook('onRequest', (request, reply, done) => {
      const socket: Counted = request.raw.socket;
      // What was sent together with one request too many goes nowhere.
      if (socket.destroyed) return;
      socket[WAITING] = (socket[WAITING] ?? 0) + 1;
      if (socket[WAITING] > MOST_PIPELINED) return void socket.destroy();
      const deadline = new Deadline(this.limitMs);
      request.deadline = deadline;
      // Node closes only the response whose turn it is: those behind it, to pipelined requests, have not got the socket yet.
      if (socket[CARRIED] === undefined) socket.once('close', () => this.endAllOn(socket));
      socket[CARRIED] = (socket[CARRIED] ?? 0) + 1;
      if (socket[CARRIED] >= this.perConnection) reply.header('connection', 'close');
      const slot = this.slots.take(request, reply);
      request.slot = slot;
      socket[ARRIVING] = request;
      reply.raw.on('close', () => this.end(request));
      done();
    });
    const sweep = setInterval(() => this.endOverdue(), Math.min(MAX_SWEEP_MS, this.limitMs / 4)).unref();
    app.addHook('onClose', async () => clearInterval(sweep));
  }

  /** Ends a request whose response is sent, or whose client has left. */
  private end({ slot, deadline, work, raw }: FastifyRequest): void {
    if (!slot.reply) return;
    const socket: Counted = raw.socket;
    deadline.end();
    slot.reply = undefined;
    socket[WAITING] = (socket[WAITING] ?? 1) - 1;
    if (socket[ARRIVING]?.raw.complete) socket[ARRIVING] = undefined;
    const give = () => this.slots.give(slot);
    if (work) work.then(give, give);
    else give();
  }

  private endAllOn(socket: Counted): void {
    if (!socket[WAITING]) return;
    for (const { reply } of this.slots.taken) if (reply?.request.raw.socket === socket) this.end(reply.request);
  }

  /** One of the connection's responses that are not complete yet. */
  pendingOn(socket: Socket): FastifyReply | undefined {
    return this.slots.taken.find(({ reply }) => reply?.request.raw.socket === socket)?.reply;
  }

  /** The request whose body has not arrived; its response may be sent. */
  arrivingOn(socket: Counted): FastifyRequest | undefined {
    const request = socket[ARRIVING];
    return request?.raw.complete ? undefined : request;
  }

  /** Counts an operation that did not arrive as an HTTP request, while it runs. */
  async during<Result>(holder: Holder, run: () => Promise<Result>): Promise<Result> {
    const slot = this.slots.take(holder);
    this.operations += 1;
    return run().finally(() => {
      this.operations -= 1;
      this.slots.give(slot);
    });
  }

  /** Stops counting a request that is refused, or whose response continues for as long as the client listens. */
  release({ slot }: FastifyRequest): void {
    this.slots.release(slot);
  }

  /** Work is ended at its deadline, and mostly answers by itself. */
  private limitOf({ request }: FastifyReply): number {
    return request.raw.complete === false ? this.limitMs : this.limitMs + GRACE_MS;
  }

  private endOverdue(): void {
    for (const slot of this.slots.taken) {
      const { reply } = slot;
      if (!reply || !slot.isTimed || reply.elapsedTime < this.limitOf(reply)) continue;
      slot.isTimed = false;
      // A response that has begun, such as a stream, may continue for as long as the client reads.
      if (!reply.sent && !reply.raw.headersSent) reply.send(overdue(reply));
    }
  }
}

function overdue(reply: FastifyReply): ProblemError {
  if (reply.request.raw.complete !== false)
    return new ProblemError('SERVICE_UNAVAILABLE', 'The request took too long and was abandoned.');
  reply.raw.setHeader('Connection', 'close');
  return new ProblemError('REQUEST_TIMEOUT', 'The request took too long to arrive.');
}
