import { Readable, type Writable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import Negotiator from 'negotiator';
import { ProblemError } from '../../errors/errors';
import { headersOf } from '../../graphql/idempotency';
import { serialize } from '../../graphql/json-text';
import { RunningSubscription } from '../../graphql/running-subscription';
import { subjectOfAddress } from '../../rate-limit/client-address';
import { JSON_TYPE } from '../../rest/response';
import type { AccessLog } from '../access-log';
import { responseType } from '../graphql-media-types';
import { type Parameters, parametersInUrl } from '../graphql-parameters';
import { presentedKey } from '../identification';
import { acceptJsonBodies } from '../json-body';
import type { CreateGraphQLRequest } from '../operation-request';
import type { RequestsInProgress } from '../requests-in-progress';
import { chunksOf } from '../send-responses';
import type { UnsentResponse } from '../unsent-responses';
import { STREAM_PATH } from '../urls';
import type { Credential, LiveOperations } from './live-operations';

const EVENT_STREAM = 'text/event-stream';
/**
 * How often an idle stream sends a comment, in milliseconds. The comment keeps proxies from closing the connection as idle.
 */
const KEEP_ALIVE_MS = 12_000;

interface StreamRouteOptions {
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  readonly createGraphQLRequest: CreateGraphQLRequest;
}

/**
 * Serves `/graphql/stream`: GraphQL over server-sent events, in the "distinct connections mode" of the graphql-sse protocol.
 * A fault of the operation is an event, since clients retry after an HTTP error, and EventSource does not show its body. The
 * handler of the package graphql-sse is not used, since it cannot end its streams on shutdown.
 */
export async function streamRoute(
  app: FastifyInstance,
  { live, requests, accessLog, createGraphQLRequest }: StreamRouteOptions,
): Promise<void> {
  acceptJsonBodies(app);
  const open = new Set<EventStream>();
  live.onClose(() => {
    for (const stream of open) stream.hangUp();
  });

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!new Negotiator(request.raw).mediaType([EVENT_STREAM]))
      throw new ProblemError('NOT_ACCEPTABLE', `Responses are ${EVENT_STREAM}; Accept must allow it.`);
    const sent = request.method === 'GET' ? parametersInUrl(request.query as Parameters) : request.body;
    const result = await live.run(sent, createGraphQLRequest(request), credentialOf(request));
    reply.headers(headersOf(result));
    if (!(result instanceof RunningSubscription) && isHttpError(result.status)) {
      if (result.status === 405) reply.header('allow', 'POST');
      return reply
        .code(result.status)
        .type(responseType(request.headers.accept) ?? JSON_TYPE)
        .send(result.body);
    }
    reply.type(`${EVENT_STREAM}; charset=utf-8`).header('cache-control', 'no-store');
    reply.header('x-accel-buffering', 'no').header('x-stability', 'experimental');
    if (!(result instanceof RunningSubscription)) {
      return reply.send((result.status === 200 ? '' : RETRY_LATER) + next(result.body) + COMPLETE);
    }
    const unsent = requests.unsent.hold(request.caller, request.raw.socket, 0);
    const stream = new EventStream(result, reply.raw, unsent, () => open.delete(stream));
    open.add(stream);
    requests.stopCounting(request.slot);
    accessLog.observeStart(request, reply);
    // The shutdown has begun while the subscription was starting.
    if (live.isClosing) stream.hangUp();
    return reply.send(stream);
  };

  const config = { logName: 'graphql' };
  app.get(STREAM_PATH, { config, exposeHeadRoute: false }, handler);
  app.post(STREAM_PATH, { config }, handler);
}

/**
 * The results of a subscription as server-sent events, pulled only as fast as the client reads. The subscription ends with an
 * error if its caller does not read its responses.
 */
class EventStream extends Readable {
  private readonly keepAlive = setInterval(() => {
    this.countUnsent();
    if (this.readableLength === 0) this.push(':\n\n');
  }, KEEP_ALIVE_MS).unref();
  private isAsking = false;
  private isOver = false;

  constructor(
    private readonly answers: RunningSubscription,
    private readonly response: Writable,
    private readonly unsent: UnsentResponse,
    private readonly onOver: () => void,
  ) {
    super();
    // An empty comment makes Node send the headers now, so that the client knows that the stream is open.
    this.push(':\n\n');
  }

  /**
   * Ends the stream. A client that has not received a `complete` event reconnects. On shutdown, the client thus reaches a
   * different instance.
   */
  hangUp(): void {
    this.isOver = true;
    this.push(null);
  }

  override _read(): void {
    this.countUnsent();
    if (this.isAsking) return;
    this.isAsking = true;
    this.answers.next().then(
      ({ value, done }) => {
        this.isAsking = false;
        if (this.isOver) return;
        const { rejection } = this.unsent;
        if (rejection) this.answers.end(rejection);
        for (const chunk of chunksOf(done ? COMPLETE : next(value))) this.push(chunk);
        this.countUnsent();
        if (done) this.hangUp();
      },
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.isOver = true;
    clearInterval(this.keepAlive);
    this.onOver();
    this.unsent.release();
    this.answers.return().then(() => callback(error), callback);
  }

  private countUnsent(): void {
    this.unsent.resize(this.readableLength + this.response.writableLength);
  }
}

function credentialOf(request: FastifyRequest): Credential | undefined {
  const key = presentedKey(request);
  return key === undefined ? undefined : { key, address: subjectOfAddress(request.ip) };
}

/**
 * Whether an error is the HTTP status of the response: errors of the caller's access and quota, of the method, and of the
 * server. All other errors are faults of the operation.
 */
function isHttpError(status: number): boolean {
  return status >= 500 || [401, 403, 405, 429].includes(status);
}

/** Without this field, EventSource would send an operation with a fault again every three seconds. */
const RETRY_LATER = 'retry: 60000\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';

function next(body: FormattedExecutionResult): string {
  return `event: next\ndata: ${serialize(body)}\n\n`;
}
