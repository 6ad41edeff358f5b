import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Deadline } from '../database/deadline';
import { ProblemError } from '../errors/errors';
import { EventLoopLag } from './event-loop-lag';
import { HeldByCaller, type Holder } from './held-by-caller';
import { type UnsentResponse, UnsentResponses } from './unsent-responses';

/**
 * One caller may have a quarter of the maximum number of requests in progress, or 16, whichever is greater (docs/bounds.md).
 */
const CALLER_FRACTION = 1 / 4;
const MIN_PER_CALLER = 16;
/**
 * The fraction of the slots that all callers may use. The other slots are reserved for callers with fewer than `MIN_PER_CALLER`
 * requests in progress.
 */
const UNRESERVED = 3 / 4;
/** A request counts once more towards the limit of its caller for this number of bytes of its body, or of its message. */
const BYTES_PER_REQUEST = 8 * 1024;
/** `Retry-After` in seconds for a caller at its limit. */
const RETRY_AFTER = 1;

/** Maximum event loop lag in milliseconds. Requests are rejected while the lag is greater. */
const MAX_LAG_MS = 1000;
const MAX_SWEEP_MS = 250;
/** How long a handler may still respond after the deadline, in milliseconds. Then the request gets an error. */
const GRACE_MS = 1_000;

/**
 * Maximum number of requests of a connection in one iteration of the event loop. The connection closes after the response to
 * the last of these requests. Without this limit, packets full of pipelined requests could block the event loop and fill the
 * memory. Node emits all requests of a packet before other code runs, even if each request is answered at once.
 */
const MAX_ARRIVED = 32;
/** After this number of requests in one iteration of the event loop, a connection is read again in the next iteration. */
const MAX_READ = 2;
/** A connection is not read while this number of its requests is unanswered, or while responses fill its write buffer. */
const MAX_UNANSWERED = 32;
/**
 * Lower values of `MAX_ARRIVED` and `MAX_UNANSWERED`. They apply during overload, and while many requests are unanswered, since
 * each unanswered request takes some kilobytes.
 */
const CROWDED = { arrived: 4, unanswered: 2 };
/**
 * With more unanswered requests than this, the limits in `CROWDED` apply. A multiple of the maximum number of requests in
 * progress.
 */
const MANY_UNANSWERED = 2;

/** After this number of consecutive rejections, further rejections on the same connection are delayed. */
const UNPACED_REJECTIONS = 20;
/** Each further rejection is delayed by this many milliseconds more than the previous rejection, up to `MAX_PACE_MS`. */
const PACE_MS = 10;
const MAX_PACE_MS = 1_000;
/** After this number of rejections in quick succession on all its connections, a caller gets further rejections at intervals. */
const UNPACED_OF_CALLER = 100;
/** The interval, in milliseconds. Each rejection waits for at most `MAX_PACE_MS`. */
const CALLER_PACE_MS = 2;
/** After this number of consecutive rejections, the connection is closed. */
const MAX_REJECTIONS = 100;

/** The state of a connection, as a property of its socket. */
interface SocketState {
  /** The number of unanswered requests. */
  unanswered: number;
  /** The number of requests that have arrived in this iteration of the event loop. */
  arrived: number;
  isPaused: boolean;
  /** Whether the connection closes after the latest request that was taken. Further requests get no response. */
  isClosing: boolean;
  /** The number of consecutive responses with the status 429. */
  rejections: number;
  /** The time at which the latest of these responses is sent, in `performance.now()` time. It may be in the future. */
  rejectedAt: number;
  /** The latest request; `undefined` once its response is sent and its body has arrived. */
  latest: FastifyRequest | undefined;
}

/**
 * Maximum number of bytes of a rejected request that are read and discarded, until its client has read the response. Some
 * clients and proxies send the whole body before they read.
 */
export const MAX_DISCARDED = 32 * 1024 * 1024;

/** A request whose response is sent, while its body is still arriving. */
interface Arriving {
  readonly raw: FastifyRequest['raw'];
  /** When the connection is closed at the latest, in `performance.now()` time. */
  readonly until: number;
  /** The connection is closed when it has received this number of bytes. */
  readonly mostBytes: number;
}

const STATE = Symbol('state');
type KnownSocket = Socket & { [STATE]?: SocketState };

/** The slot of a request or operation in progress. */
export interface Slot {
  /**
   * The caller whose limit the slot counts towards; `undefined` until the caller is known, or if the request is rejected.
   */
  holder?: Holder;
  /** How often the slot counts towards this limit. */
  weight: number;
  /** The response; `undefined` once it is sent or the client has disconnected, and for operations over WebSocket. */
  reply?: FastifyReply;
  /** The response while it is being sent. */
  unsent?: UnsentResponse;
  phase: SlotPhase;
}

/**
 * - `running`: the request counts as in progress, and gets an error if it exceeds its deadline;
 * - `overdue`: it got this error, and counts until its handler has ended;
 * - `responding`: its response is ready, so it no longer counts;
 * - `uncounted`: it is rejected, or has become a WebSocket or an event stream. It neither counts nor has a deadline.
 */
type SlotPhase = 'running' | 'overdue' | 'responding' | 'uncounted';

function isInProgress({ phase }: Slot): boolean {
  return phase === 'running' || phase === 'overdue';
}

/**
 * Counts and limits the requests in progress, and the operations over WebSocket. A request is in progress from the arrival
 * of its headers until its response is ready and its handler has ended. `unsent` bounds the bytes of responses that clients
 * do not read. No other code limits the number of concurrent requests.
 *
 * Fastify's own features do not suffice. `@fastify/under-pressure` does not count requests. `handlerTimeout` needs a timer
 * per request, does not cover unknown paths, and aborts streams.
 */
export class RequestsInProgress {
  /** The number of counted requests and operations. */
  count = 0;
  /**
   * The number of operations over WebSocket, which `count` includes: queries, mutations, and subscriptions that are
   * starting.
   */
  operations = 0;
  /** Total number of requests and operations rejected because of overload or the limit per caller. */
  rejected = 0;
  readonly lag = new EventLoopLag();
  readonly unsent = new UnsentResponses();
  isDraining = false;
  /** Whether each connection closes after its next response. */
  isClosing = false;

  /** The connections on which requests have arrived in this iteration of the event loop. */
  private arrivedOn: KnownSocket[] = [];
  private readonly slots = new Set<Slot>();
  private readonly arriving = new Set<Arriving>();
  /**
   * The time at which each caller's next rejection would be due if all its rejections were paced, in `performance.now()` time.
   * Only for callers with recent rejections.
   */
  private readonly nextRejections = new Map<string, number>();
  /**
   * The number of counted requests and operations by caller. Requests and operations of an end user also count for the client's
   * address.
   */
  private readonly assigned = new HeldByCaller();
  private readonly mostPerCaller: number;
  private readonly tooMany: ProblemError;

  /**
   * @param limitMs time limit of a request, measured from the arrival of its headers. A request that exceeds it gets 408 if
   * its body is incomplete, else 503.
   * @param most maximum number of requests in progress.
   */
  constructor(
    readonly limitMs: number,
    private readonly most: number,
  ) {
    this.mostPerCaller = Math.max(MIN_PER_CALLER, Math.floor(most * CALLER_FRACTION));
    const message = `A caller may have at most ${this.mostPerCaller} requests in progress; a large body counts as several. Try again in ${RETRY_AFTER} second.`;
    this.tooMany = new ProblemError('RATE_LIMITED', message);
  }

  get isOverloaded(): boolean {
    return this.count > this.most || this.lag.ms > MAX_LAG_MS;
  }

  /**
   * Whether the process is overloaded, or more than twice `most` requests are unanswered. A pipelined request also counts while
   * its response waits for earlier responses on the same connection.
   */
  private get isCrowded(): boolean {
    return this.isOverloaded || this.slots.size > MANY_UNANSWERED * this.most;
  }

  /**
   * Records the promises of the handlers of all routes that are added later. While the server is open, checks deadlines and
   * measures the event loop lag.
   */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = function (request, reply) {
        const handled = handler.call(this, request, reply);
        if (handled instanceof Promise) request.handlerDone = handled;
        return handled;
      };
    });
    let sweep: NodeJS.Timeout | undefined;
    this.lag.watch(app);
    this.unsent.watch(app);
    app.addHook('onReady', async () => {
      sweep = setInterval(() => this.sweep(), Math.min(MAX_SWEEP_MS, this.limitMs / 4)).unref();
    });
    app.addHook('onClose', async () => {
      clearInterval(sweep);
    });
  }

  /**
   * Takes a slot for a request, and starts its deadline.
   * @returns `false` if the request gets no response, since too many requests have arrived at once on its connection. The
   * connection then closes: at once if `isCrowded`, otherwise after the last response.
   */
  start(request: FastifyRequest, reply: FastifyReply): boolean {
    const socket: KnownSocket = request.raw.socket;
    // An earlier request in the same packet has closed the connection.
    if (socket.destroyed) return false;
    socket[STATE] ??= this.connect(socket);
    const state = socket[STATE];
    if (state.arrived === 0 && this.arrivedOn.push(socket) === 1) setImmediate(() => this.startIteration());
    state.arrived += 1;
    state.unanswered += 1;
    request.slot = this.take(reply);
    request.isOverloaded = this.isOverloaded;
    request.deadline = new Deadline(this.limitMs);
    if (state.arrived > CROWDED.arrived && this.isCrowded) {
      this.release(request.slot);
      this.unsent.closeFlooded(socket, state.latest?.caller);
      return false;
    }
    if (state.isClosing) {
      // The client sends the request again on another connection (RFC 9112, section 9.3.2).
      this.stopCounting(request.slot);
      return false;
    }
    if (state.arrived === MAX_ARRIVED) {
      state.isClosing = true;
      reply.header('connection', 'close');
    }
    if (this.isFull(socket, state)) {
      state.isPaused = true;
      // Node resumes reading at the end of each request. A microtask runs after that.
      queueMicrotask(() => socket.pause());
    }
    state.latest = request;
    return true;
  }

  /**
   * Counts a request or operation towards the limit of its caller. Called once the caller is known.
   * @returns the error if the request or operation is rejected because of overload, this limit or unread responses. A rejected
   * request or operation is no longer counted.
   */
  countForCaller(slot: Slot, caller: Holder, isOverloaded: boolean): ProblemError | undefined {
    // The client disconnected during the look-up of the caller.
    if (!isInProgress(slot)) return undefined;
    const unread = this.unsent.rejectionOf(caller);
    const isFull = isOverloaded || this.isReservedFrom(caller);
    if (!isFull && !unread && this.assign(slot, caller)) return undefined;
    this.rejected += 1;
    this.stopCounting(slot);
    if (unread) return unread;
    return isFull ? OVERLOADED : this.tooMany;
  }

  /**
   * Counts a request towards the limit of a caller while its key is looked up.
   * @throws ProblemError `RATE_LIMITED` if the caller is at its limit.
   */
  countDuringLookUp(slot: Slot, caller: Holder): void {
    if (!isInProgress(slot) || this.assign(slot, caller)) return;
    this.rejected += 1;
    this.stopCounting(slot);
    throw this.tooMany;
  }

  /**
   * Counts a large body as further requests towards the limit of the caller: as parsed JSON, it may take twenty times its bytes.
   * @returns the error if the request is rejected because of this limit. It is then no longer counted.
   */
  countBody(slot: Slot, bytes: number): ProblemError | undefined {
    const { holder } = slot;
    const more = Math.floor(bytes / BYTES_PER_REQUEST);
    if (!more || !holder) return undefined;
    // A caller may always have one request with a large body.
    if (this.assigned.of(holder) > 1 && this.assigned.of(holder) + more > this.mostPerCaller) {
      this.rejected += 1;
      this.stopCounting(slot);
      return this.tooMany;
    }
    this.assigned.add(holder, more);
    slot.weight += more;
    return undefined;
  }

  /**
   * Counts an operation over WebSocket while `run` is running.
   * @param bytes the length of the message. @param run gets the error if the operation is rejected.
   */
  async countOperation<Result>(
    caller: Holder,
    bytes: number,
    run: (rejection?: ProblemError) => Promise<Result>,
  ): Promise<Result> {
    const slot = this.take();
    this.operations += 1;
    try {
      return await run(this.countForCaller(slot, caller, this.isOverloaded) ?? this.countBody(slot, bytes));
    } finally {
      this.operations -= 1;
      this.release(slot);
    }
  }

  /**
   * Ends a request whose response is sent or whose client has disconnected. The slot is released when the handler has ended.
   */
  end({ slot, deadline, handlerDone, raw }: FastifyRequest): void {
    const { reply } = slot;
    if (!reply) return;
    slot.reply = undefined;
    slot.unsent?.release();
    deadline.end();
    const state = (raw.socket as KnownSocket)[STATE];
    if (raw.complete === false && !raw.socket.destroyed) this.discard(raw, reply.elapsedTime);
    if (state) {
      state.unanswered -= 1;
      if (state.latest?.raw.complete) state.latest = undefined;
      this.resume(raw.socket, state);
    }
    const isAbandoned = slot.phase === 'overdue' || !reply.raw.writableFinished;
    const release = () => this.release(slot);
    if (isAbandoned && handlerDone) handlerDone.then(release, release);
    else release();
  }

  private startIteration(): void {
    const sockets = this.arrivedOn;
    this.arrivedOn = [];
    for (const socket of sockets) {
      const state = socket[STATE] as SocketState;
      state.arrived = 0;
      this.resume(socket, state);
    }
  }

  /**
   * Resumes reading a paused connection, unless a limit is still reached. Called when an iteration begins, and when a response
   * is sent. While a response is unread, the connection takes no further requests. It is not closed either, since the client
   * could connect again and cause further responses.
   */
  private resume(socket: Socket, state: SocketState): void {
    if (!state.isPaused || this.isFull(socket, state)) return;
    state.isPaused = false;
    socket.resume();
  }

  private isFull(socket: Socket, { arrived, unanswered }: SocketState): boolean {
    const most = this.isCrowded ? CROWDED.unanswered : MAX_UNANSWERED;
    return arrived >= MAX_READ || unanswered >= most || socket.writableNeedDrain;
  }

  /**
   * Paces the rejections of a connection. Also paces the rejections of its caller on all connections, since a caller could
   * otherwise avoid the pacing with new connections.
   * @returns how long to wait before the response is sent, in milliseconds; `Infinity` if the connection is to be closed.
   */
  paceRejection(socket: KnownSocket, { id, address = id }: Holder): number {
    const state = socket[STATE];
    if (!state) return 0;
    state.rejections += 1;
    if (state.rejections > MAX_REJECTIONS) return Infinity;
    const now = performance.now();
    return Math.max(this.delayOnConnection(state, now), this.delayOfCaller(address, now));
  }

  private delayOnConnection(state: SocketState, now: number): number {
    const paced = state.rejections - UNPACED_REJECTIONS;
    if (paced <= 0) return 0;
    state.rejectedAt = Math.max(now, state.rejectedAt) + Math.min(paced * PACE_MS, MAX_PACE_MS);
    return state.rejectedAt - now;
  }

  /** The generic cell rate algorithm (GCRA). */
  private delayOfCaller(caller: string, now: number): number {
    const next = Math.max(now, this.nextRejections.get(caller) ?? 0);
    this.nextRejections.set(caller, next + CALLER_PACE_MS);
    return Math.min(Math.max(0, next - now - UNPACED_OF_CALLER * CALLER_PACE_MS), MAX_PACE_MS);
  }

  /** Ends the pacing of a connection. Called for a response that is not a rejection. */
  unpace(socket: KnownSocket): void {
    const state = socket[STATE];
    if (state) state.rejections = 0;
  }

  /** Stops counting a request whose response is ready. */
  responseReady(slot: Slot): void {
    if (slot.phase === 'running') this.leaveProgress(slot, 'responding');
  }

  /** Stops counting a request that is rejected, or has become a WebSocket or an event stream. */
  stopCounting(slot: Slot): void {
    this.leaveProgress(slot, 'uncounted');
  }

  private leaveProgress(slot: Slot, phase: 'responding' | 'uncounted'): void {
    const wasInProgress = isInProgress(slot);
    slot.phase = phase;
    if (!wasInProgress) return;
    this.count -= 1;
    this.unassign(slot);
  }

  /** Whether the remaining slots are reserved for callers with fewer requests in progress. */
  private isReservedFrom(caller: Holder): boolean {
    return this.count > this.most * UNRESERVED && this.assigned.of(caller) >= MIN_PER_CALLER;
  }

  /**
   * Counts a slot towards the limit of this caller only.
   * @returns `false` if the caller is at its limit. The slot then counts towards no limit.
   */
  private assign(slot: Slot, caller: Holder): boolean {
    this.unassign(slot);
    if (this.assigned.of(caller) >= this.mostPerCaller) return false;
    this.assigned.add(caller, 1);
    slot.holder = caller;
    return true;
  }

  private unassign(slot: Slot): void {
    const { holder, weight } = slot;
    slot.holder = undefined;
    slot.weight = 1;
    if (holder) this.assigned.add(holder, -weight);
  }

  /** A response on this connection that has not been sent completely; `undefined` if there is none. */
  pendingOn(socket: Socket): FastifyReply | undefined {
    for (const { reply } of this.slots) if (reply?.request.raw.socket === socket) return reply;
    return undefined;
  }

  /** The request on this connection whose body is still incomplete. Its response may already have been sent. */
  arrivingOn(socket: KnownSocket): FastifyRequest | undefined {
    const request = socket[STATE]?.latest;
    return request?.raw.complete ? undefined : request;
  }

  private connect(socket: Socket): SocketState {
    const state: SocketState = {
      unanswered: 0,
      arrived: 0,
      isPaused: false,
      isClosing: false,
      rejections: 0,
      rejectedAt: 0,
      latest: undefined,
    };
    // Ends all pipelined requests of the connection. Node closes only the response of the first request, since the other
    // responses are not assigned to the socket yet.
    socket.once('close', () => {
      if (state.unanswered === 0) return;
      for (const { reply } of [...this.slots]) if (reply?.request.raw.socket === socket) this.end(reply.request);
    });
    const close = socket.destroySoon;
    // Node closes a connection after its last response, although the body of the request may still be arriving. The kernel
    // would then reset the connection, and the client could lose the response.
    socket.destroySoon = () => {
      const last = this.arrivingOn(socket);
      if (last) last.raw.once('end', () => close.call(socket)).resume();
      else close.call(socket);
    };
    return state;
  }

  /** Limits the rest of a body, which Node reads and discards after the response. @param ms the age of the request. */
  private discard(raw: FastifyRequest['raw'], ms: number): void {
    const until = performance.now() + Math.max(0, this.limitMs - ms) + GRACE_MS;
    this.arriving.add({ raw, until, mostBytes: raw.socket.bytesRead + MAX_DISCARDED });
  }

  private closeLongArriving(): void {
    for (const body of this.arriving) {
      const { raw, until, mostBytes } = body;
      const isOver = raw.complete || raw.socket.destroyed;
      const isTooLong = performance.now() > until || raw.socket.bytesRead > mostBytes;
      if (!isOver && isTooLong) raw.socket.destroy();
      if (isOver || isTooLong) this.arriving.delete(body);
    }
  }

  private take(reply?: FastifyReply): Slot {
    const slot: Slot = { holder: undefined, weight: 1, reply, phase: 'running' };
    this.slots.add(slot);
    this.count += 1;
    return slot;
  }

  private release(slot: Slot): void {
    this.stopCounting(slot);
    this.slots.delete(slot);
  }

  private sweep(): void {
    this.closeLongArriving();
    const now = performance.now();
    for (const [caller, next] of this.nextRejections) if (next < now) this.nextRejections.delete(caller);
    for (const slot of [...this.slots]) {
      const { reply } = slot;
      if (!reply || slot.phase !== 'running' || reply.elapsedTime < this.limitOf(reply)) continue;
      slot.phase = 'overdue';
      // A response that has begun, such as a file, may continue for as long as the client reads it.
      if (!reply.sent && !reply.raw.headersSent) reply.send(overdue(reply));
    }
  }

  /**
   * The time after which a request gets an error response. If the body is complete, a grace period follows the deadline. The
   * deadline ends the handler's work, so the handler usually responds within this period.
   */
  private limitOf({ request }: FastifyReply): number {
    return request.raw.complete === false ? this.limitMs : this.limitMs + GRACE_MS;
  }
}

const OVERLOADED = new ProblemError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again shortly.');

function overdue(reply: FastifyReply): ProblemError {
  if (reply.request.raw.complete !== false)
    return new ProblemError('SERVICE_UNAVAILABLE', 'The request took too long and was abandoned.');
  reply.raw.setHeader('Connection', 'close');
  return new ProblemError('REQUEST_TIMEOUT', 'The request took too long to arrive.');
}
