import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Journal } from './access-log';
import type { Metrics } from './metrics';
import { operationOf } from './request-observation';

/**
 * Logs one line per answered request, and records it in the metrics. `caller` is the id of the key, or the address. Query
 * strings and headers are left out, since they may hold secrets. So are requests of callers already banned, which could
 * fill a disk: they appear in the metrics.
 */
export class RequestLog extends LogController {
  constructor(
    private readonly journal: Journal,
    private readonly metrics: Metrics,
  ) {
    super({ requestIdLogLabel: 'requestId' });
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override defaultErrorLog(): void {}

  /** A client that disconnects from a stream completes it: this is how subscription streams end. */
  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE')
      this.requestCompleted(null, request, reply);
    else super.streamError(error, request, reply);
  }

  override requestCompleted(_error: Error | null, request: FastifyRequest, reply: FastifyReply): void {
    const operation = operationOf(request);
    const name = request.observation?.name;
    // How long a client listened is not the duration of a request; the stream was observed when it began.
    const isStream = reply.statusCode === 200 && operation.startsWith('subscription ');
    if (!isStream) this.metrics.observe(operation, reply.statusCode, reply.elapsedTime);
    if (request.isTurnedAway) return;
    this.journal.note({
      requestId: request.id,
      method: request.method,
      path: request.url.split('?', 1)[0],
      caller: request.caller?.id,
      operation,
      operationName: name === operation ? undefined : name,
      status: reply.statusCode,
      ms: reply.elapsedTime,
    });
  }
}
