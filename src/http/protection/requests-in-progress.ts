import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Deadline } from '../../database/work/deadline';
import { ProblemError } from '../../errors/problem';

declare module 'fastify' {
  interface FastifyRequest {
    /** When its work has to end: when its time is up, or its client has gone. */
    deadline: Deadline;
  }
}

const MAX_SWEEP_MS = 250;

/** How much later than its deadline a request is answered, whatever it still waits for, in milliseconds. */
const GRACE_MS = 1_000;

const CARRIED = Symbol('how many requests have come on this connection');
type Counted = Socket & { [CARRIED]?: number };

/**
 * The requests in progress, from their head until the last byte of their response. Each has a slot in an array, which is
 * reused: entries of a `Set` with this much churn would outlive their request until the next full garbage collection.
 */
export class RequestsInProgress {
  private readonly places: (FastifyReply | undefined)[] = [];
  private readonly free: number[] = [];
  /** Those that may take any time: released, or already answered as overdue. */
  private readonly untimed = new WeakSet<FastifyReply>();
  private released = 0;
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
    return this.places.length - this.free.length - this.released + this.operations;
  }

  /**
   * Must be the first hook of all. All requests are checked periodically: Fastify's `handlerTimeout` would take a timer for
   * each, leave out unknown paths, and cut off streams.
   */
  track(app: FastifyInstance): void {
    app.decorateRequest('deadline');
    app.addHook('onRequest', (request, reply, done) => {
      const deadline = new Deadline(this.limitMs);
      request.deadline = deadline;
      const socket: Counted = request.raw.socket;
      socket[CARRIED] = (socket[CARRIED] ?? 0) + 1;
      if (socket[CARRIED] >= this.perConnection) reply.header('connection', 'close');
      const place = this.free.pop() ?? this.places.length;
      this.places[place] = reply;
      reply.raw.on('close', () => {
        deadline.end();
        this.places[place] = undefined;
        this.free.push(place);
      });
      done();
    });
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (this.isClosing) reply.header('connection', 'close');
      done(null, payload);
    });
    const sweep = setInterval(() => this.endOverdue(), Math.min(MAX_SWEEP_MS, this.limitMs / 4)).unref();
    app.addHook('onClose', (_app, done) => {
      clearInterval(sweep);
      done();
    });
  }

  /** One of the connection's responses that are not complete yet. */
  pendingOn(socket: Socket): FastifyReply | undefined {
    return this.places.find((reply) => reply?.request.raw.socket === socket);
  }

  /** Counts an operation that did not arrive as an HTTP request, while it runs. */
  async during<Result>(run: () => Promise<Result>): Promise<Result> {
    this.operations += 1;
    return run().finally(() => {
      this.operations -= 1;
    });
  }

  /** Stops counting a request whose response continues for as long as the client listens. */
  release(reply: FastifyReply): void {
    // If the client has left meanwhile, the slot is free already.
    if (reply.raw.destroyed) return;
    this.untimed.add(reply);
    this.released += 1;
    reply.raw.once('close', () => {
      this.released -= 1;
    });
  }

  /** Work is ended at its deadline, and mostly answers by itself. */
  private limitOf({ request }: FastifyReply): number {
    return request.raw.complete === false ? this.limitMs : this.limitMs + GRACE_MS;
  }

  private endOverdue(): void {
    for (const reply of this.places) {
      if (!reply || reply.elapsedTime < this.limitOf(reply) || this.untimed.has(reply)) continue;
      this.untimed.add(reply);
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
