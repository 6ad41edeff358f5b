import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Journal } from './journal';
import type { Metrics } from './metrics';
import { operationOf } from './observation';

/**
 * One line for each request, when it has been answered, and its place in the metrics. `caller` is the id of its key, or its
 * address. Query strings and headers, which may hold secrets, stay out; so do those who go on while banned, who could fill
 * a disk: they are in the metrics.
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

  /** A client that has gone away while it was sent a stream, which is how those of subscriptions end. */
  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE')
      this.requestCompleted(null, request, reply);
    else super.streamError(error, request, reply);
  }

  override requestCompleted(_error: Error | null, request: FastifyRequest, reply: FastifyReply): void {
    const operation = operationOf(request);
    const name = request.observation?.name;
    // How long somebody listened is no duration of a request; that it was answered has been counted when it was.
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
