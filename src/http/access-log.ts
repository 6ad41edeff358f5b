import type { IncomingHttpHeaders } from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Deadline } from '../database/deadline';
import type { Told } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import type { Observer } from '../graphql/context';
import type { Meter } from '../rate-limit/meter';
import type { Interface, Metrics, ObservedError } from './metrics';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its operation reported; `undefined` if none has run. */
    observation: Observation | undefined;
    /** The error that rejects the whole request, whatever the HTTP status. */
    rejection: Told | undefined;
  }
  interface FastifyContextConfig {
    /** The name of the route in logs and metrics: the `operationId`, `graphql`, `docs`. */
    operation?: string;
  }
}

/** A request, or an operation that came over WebSocket, with its caller. */
export interface Incoming {
  readonly id: string;
  readonly caller: Caller;
  readonly meter: Meter;
  /** When its work has to end. */
  readonly deadline: Deadline;
  readonly headers?: IncomingHttpHeaders;
  observation?: Observation;
}

/** Maximum length of an operation's name, which the client chooses. */
const MAX_NAME = 100;

/** What the operation of one request reports, for logs and metrics. */
export class Observation implements Observer {
  /** `query pets` */
  operation: string | undefined;
  name: string | undefined;
  /** The error of the highest status that the caller is told, whatever the HTTP status. */
  worst: Told | undefined;

  /** @param logger receives errors whose details are hidden from the caller. */
  constructor(
    private readonly logger: { error(entry: { err: unknown; requestId: string }): void },
    private readonly requestId: string,
  ) {}

  onOperation(operation: string, name: string | undefined): void {
    this.operation = operation;
    this.name = name?.slice(0, MAX_NAME);
  }

  onInternalError(err: unknown): void {
    this.logger.error({ err, requestId: this.requestId });
  }

  onProblem(problem: Told): void {
    if (!this.worst || problem.status > this.worst.status) this.worst = problem;
  }
}

/** The log entry of an answered request, or of an operation over WebSocket. */
export interface AccessEntry {
  readonly requestId: string;
  readonly method: string;
  readonly path?: string;
  /** The id of the caller's key, or its address. */
  readonly caller: string | undefined;
  readonly operation: string;
  readonly operationName: string | undefined;
  readonly status: number;
  /** The code of its worst error. */
  readonly code: string | undefined;
  /** Duration; logged to a tenth of a millisecond. */
  ms: number;
}

/** Whether a request was refused because its caller was already banned. @param meter `undefined` before it has one. */
export function isTurnedAway(httpStatus: number, meter: Meter | undefined): boolean {
  return httpStatus === 429 && meter?.status?.verdict === 'banned';
}

/** Whether it is one of the probes and scrapes that come every few seconds, and was answered well. */
function isRoutine({ operation, status }: AccessEntry): boolean {
  return (operation === 'health' || operation === 'metrics') && status < 400;
}

/** Maximum time that a line waits, in milliseconds, and maximum number of lines waiting. */
const PATIENCE_MS = 10;
const MAX_WAITING = 256;

/**
 * Logs one line per answered request, and records it in the metrics. Query strings and headers are left out, since they may
 * hold secrets. So are requests of callers already banned, which could fill a disk: they appear in the metrics. Probes and
 * scrapes that succeed are for the level `debug`. Lines are written in batches, which saves 5 % of
 * the CPU time of a small request. They are lost only if the process is killed.
 */
export class AccessLog extends LogController {
  private waiting: AccessEntry[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isPatient = true;

  constructor(
    private readonly logger: FastifyBaseLogger,
    private readonly metrics: Pick<Metrics, 'observe' | 'observeError'>,
  ) {
    super();
  }

  // Fastify's own lines about requests are left out.
  override incomingRequest(): void {}

  override requestCompleted(): void {}

  override routeNotFound(): void {}

  override defaultErrorLog(): void {}

  /** A client that disconnects from a stream completes it: this is how subscription streams end. */
  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest, reply: FastifyReply): void {
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') this.logResponse(request, reply);
    else super.streamError(error, request, reply);
  }

  /** Logs and records a response that is sent. */
  logResponse(request: FastifyRequest, reply: FastifyReply): void {
    const { id: requestId, method, url, caller, meter, observation } = request;
    const operation = operationOf(request);
    const operationName = observation?.name === operation ? undefined : observation?.name;
    const { statusCode: status, elapsedTime: ms } = reply;
    const path = url.split('?', 1)[0];
    const error = request.rejection ?? observation?.worst;
    const code = error?.code;
    const entry = { requestId, method, path, caller: caller?.id, operation, operationName, status, code, ms };
    // How long a client listened is not the duration of a request; the stream was observed when it began.
    if (status === 200 && operation.startsWith('subscription ')) this.write(entry);
    else this.record(entry, isTurnedAway(status, meter), error && { ...error, interface: interfaceOf(request) });
  }

  /** Records how long a stream took to begin. */
  observeStart(request: FastifyRequest, reply: FastifyReply): void {
    this.metrics.observe(operationOf(request), 200, reply.elapsedTime);
  }

  /**
   * @param isTurnedAway whether its caller was already banned.
   * @param error the worst that it was answered with.
   */
  record(entry: AccessEntry, isTurnedAway: boolean, error?: ObservedError): void {
    this.metrics.observe(entry.operation, error?.status ?? entry.status, entry.ms);
    if (error) this.metrics.observeError(error);
    if (!isTurnedAway) this.write(entry);
  }

  /** Writes waiting lines before the server closes or the process exits. */
  closeWith(app: FastifyInstance): void {
    const flush = () => this.flush();
    // Before the logger flushes its buffer.
    process.prependListener('exit', flush);
    app.addHook('onClose', async () => {
      process.removeListener('exit', flush);
      flush();
      // Any later line is written at once.
      this.isPatient = false;
    });
  }

  private write(entry: AccessEntry): void {
    const count = this.waiting.push(entry);
    if (!this.isPatient || count === MAX_WAITING) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), PATIENCE_MS);
  }

  private flush(): void {
    const { waiting } = this;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = [];
    for (const entry of waiting) {
      entry.ms = Math.round(entry.ms * 10) / 10;
      if (isRoutine(entry)) this.logger.debug(entry, 'request');
      else this.logger.info(entry, 'request');
    }
  }
}

function interfaceOf({ route: { operation, metering } }: FastifyRequest): Interface {
  if (operation === undefined || metering) return 'other';
  return operation === 'graphql' ? 'graphql' : 'rest';
}

/** The operation of a request, never named by the client: `getPet`, `query pets`, `graphql`, `docs`, `other`. */
function operationOf({ observation, route: { operation = 'other' } }: FastifyRequest): string {
  return operation === 'graphql' ? (observation?.operation ?? operation) : operation;
}
