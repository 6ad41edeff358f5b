import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { OperationTypeNode } from 'graphql';
import type { ProblemSummary } from '../errors/errors';
import type { Observer, OperationSummary } from '../graphql/context';
import { TOO_MANY_LOOK_UPS } from '../rate-limit/look-ups';
import type { Meter } from '../rate-limit/meter';
import type { ErrorLog } from './error-log';
import type { Interface, Metrics, ObservedError } from './metrics';

/** Maximum logged length of an operation's name. Clients choose the name, so it may have any length. */
const MAX_NAME = 100;

/** Records the operation of a request and its worst error, for logs and metrics. */
export class OperationObserver implements Observer {
  /** `undefined` until the operation is known. */
  kind: OperationTypeNode | undefined;
  /** The kind and root field of the operation, such as `query pets`. */
  label: string | undefined;
  name: string | undefined;
  /** Whether the response is an event stream that has begun. */
  isStream = false;
  /** The error with the highest `status` in the response. GraphQL may send it with the HTTP status 200. */
  worst: ProblemSummary | undefined;

  constructor(
    private readonly errorLog: ErrorLog,
    private readonly requestId: string,
  ) {}

  onOperation({ kind, label, name }: OperationSummary): void {
    this.kind = kind;
    this.label = label;
    this.name = name?.slice(0, MAX_NAME);
  }

  onInternalError(err: unknown): void {
    this.errorLog.add(err, this.requestId);
  }

  onProblem(problem: ProblemSummary): void {
    if (!this.worst || problem.status > this.worst.status) this.worst = problem;
  }
}

/** The log entry of an answered request, or of an operation over WebSocket. */
interface AccessEntry {
  readonly requestId: string;
  /** `undefined` if the request could not be parsed. */
  readonly method: string | undefined;
  readonly path?: string;
  /** The key id or the address of the caller. */
  readonly caller: string;
  readonly operation: string;
  readonly operationName: string | undefined;
  readonly status: number;
  /** The code of the error with the highest status. */
  readonly code: string | undefined;
  /** Duration in milliseconds. The log rounds it to a tenth. */
  ms: number;
}

/** Whether a request was rejected because its caller was already banned. */
export function isBanned(httpStatus: number, meter: Meter): boolean {
  return httpStatus === 429 && meter.status?.verdict === 'banned';
}

/** Whether the request is a successful health check or metrics scrape. Monitoring sends these every few seconds. */
function isRoutine({ operation, status }: AccessEntry): boolean {
  return (operation === 'health' || operation === 'metrics') && status < 400;
}

/** A batch of log lines is written after `BATCH_MS` milliseconds, or earlier if it reaches `MAX_BATCH` lines. */
const BATCH_MS = 10;
const MAX_BATCH = 256;

/**
 * Logs one line per answered request, and records the request in the metrics. Lines contain no query strings and no headers,
 * since these may hold secrets. Two kinds of requests are counted in the metrics but not logged, since their lines could fill the
 * disk: requests of callers that are already banned, and requests over the limit on look-ups of keys. Successful health checks
 * and metrics scrapes are logged at the level `debug`.
 *
 * Lines are written in batches. Writing each line separately would take a noticeable part of a small request's time
 * (bench/README.md). Lines in a batch are lost only if the process is killed.
 */
export class AccessLog extends LogController {
  private batch: AccessEntry[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly logger: FastifyBaseLogger,
    private readonly metrics: Pick<Metrics, 'observe' | 'observeError'>,
  ) {
    super();
  }

  // These empty methods turn off Fastify's own log lines about requests.
  override incomingRequest(): void {}

  override requestCompleted(): void {}

  override routeNotFound(): void {}

  override defaultErrorLog(): void {}

  /**
   * Handles stream errors. Clients end an event stream by disconnecting, so a disconnect is logged as a response, not as an
   * error.
   */
  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest, reply: FastifyReply): void {
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') this.logResponse(request, reply);
    else super.streamError(error, request, reply);
  }

  /** Logs a response after it was sent, and records it in the metrics. */
  logResponse(request: FastifyRequest, reply: FastifyReply): void {
    const { id: requestId, method, url, caller, meter, observer, keyProblem } = request;
    const operation = operationOf(request);
    const operationName = observer?.name === operation ? undefined : observer?.name;
    const { statusCode: status, elapsedTime: ms } = reply;
    const path = url.split('?', 1)[0];
    const error = request.rejection ?? observer?.worst;
    const code = error?.code;
    const entry = { requestId, method, path, caller: caller.id, operation, operationName, status, code, ms };
    // This response was an event stream. Its duration is not recorded here, since `observeStart` has already recorded the
    // time until the stream began.
    if (observer?.isStream) this.write(entry);
    else
      this.record(
        entry,
        isBanned(status, meter) || keyProblem === TOO_MANY_LOOK_UPS,
        error && { ...error, interface: interfaceOf(request) },
      );
  }

  /** Records the time until an event stream began as the duration of its request. */
  observeStart(request: FastifyRequest, reply: FastifyReply): void {
    if (request.observer) request.observer.isStream = true;
    this.metrics.observe(operationOf(request), 200, reply.elapsedTime);
  }

  /**
   * Records a request or operation in the metrics, and logs it unless it may be part of a flood.
   * @param isFlood whether the caller was already banned, or has sent too many unknown keys.
   * @param error the error with the highest status.
   */
  record(entry: AccessEntry, isFlood: boolean, error?: ObservedError): void {
    this.metrics.observe(entry.operation, error?.status ?? entry.status, entry.ms);
    if (error) this.metrics.observeError(error);
    if (!isFlood) this.write(entry);
  }

  /** Writes the buffered lines when the server closes or the process exits. */
  closeWith(app: FastifyInstance): void {
    const flush = () => this.flush();
    // The listener is prepended, so that it runs before the logger's exit listener flushes the logger's buffer.
    process.prependListener('exit', flush);
    app.addHook('onClose', async () => {
      process.removeListener('exit', flush);
      flush();
      this.isClosed = true;
    });
  }

  private write(entry: AccessEntry): void {
    const count = this.batch.push(entry);
    if (this.isClosed || count === MAX_BATCH) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  private flush(): void {
    const { batch } = this;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.batch = [];
    for (const entry of batch) {
      entry.ms = Math.round(entry.ms * 10) / 10;
      if (isRoutine(entry)) this.logger.debug(entry, 'request');
      else this.logger.info(entry, 'request');
    }
  }
}

function interfaceOf({ route: { logName, metering } }: FastifyRequest): Interface {
  if (logName === undefined || metering) return 'other';
  return logName === 'graphql' ? 'graphql' : 'rest';
}

/**
 * The operation of a request, such as `getPet`, `query pets`, `graphql`, `docs` or `other`. It contains no name chosen by
 * the client.
 */
function operationOf({ observer, route: { logName = 'other' } }: FastifyRequest): string {
  return logName === 'graphql' ? (observer?.label ?? logName) : logName;
}
