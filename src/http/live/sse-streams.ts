import { Readable, type Writable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Deadline } from '../../database/deadline';
import type { CreateOperationRequest, OperationRequest } from '../../graphql/context';
import type { LiveResult, RunningSubscription, StartLive } from '../../graphql/subscriptions';
import { idOfAddress } from '../../rate-limit/client-address';
import { EVENT_STREAM } from '../../rest/media-types';
import type { EventFormat, EventStreams as Streams } from '../../rest/server-sent-events';
import type { AccessLog } from '../access-log';
import { presentedKey } from '../identification';
import type { IncomingRequest } from '../operation-request';
import type { RequestsInProgress } from '../requests-in-progress';
import { chunksOf } from '../send-responses';
import type { UnsentResponse } from '../unsent-responses';
import type { Credential, LiveOperations } from './live-operations';

/**
 * How often an idle stream sends a comment, in milliseconds. The comment keeps proxies from closing the connection as idle.
 */
const KEEP_ALIVE_MS = 12_000;

export interface EventStreamOptions {
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  readonly createOperationRequest: CreateOperationRequest<IncomingRequest>;
}

/** Sends subscriptions and streamed lists as server-sent events. Disconnects them on shutdown. */
export class EventStreams implements Streams {
  private readonly open = new Set<EventStream>();

  constructor(private readonly options: EventStreamOptions) {
    options.live.onClose(() => {
      for (const stream of this.open) stream.hangUp();
    });
  }

  start(request: FastifyRequest, operation: OperationRequest, start: StartLive): Promise<LiveResult> {
    return this.options.live.startLimited(operation, credentialOf(request), start);
  }

  continuationOf({ id, caller, meter, method }: FastifyRequest, { api, observer }: OperationRequest): OperationRequest {
    const { createOperationRequest, requests } = this.options;
    const incoming = { id, caller, meter, method, deadline: new Deadline(requests.limitMs) };
    return { ...createOperationRequest(incoming, api), observer, isContinuation: true };
  }

  send(
    request: FastifyRequest,
    reply: FastifyReply,
    subscription: RunningSubscription,
    format: EventFormat,
  ): FastifyReply {
    const { live, requests, accessLog } = this.options;
    setStreamHeaders(reply);
    const unsent = requests.unsent.hold(request.caller, request.raw.socket, 0);
    const stream = new EventStream(subscription, format, reply.raw, unsent, () => this.open.delete(stream));
    this.open.add(stream);
    requests.stopCounting(request.slot);
    accessLog.observeStart(request, reply);
    // The shutdown has begun while the stream was starting.
    if (live.isClosing) stream.hangUp();
    return reply.send(stream);
  }
}

export function setStreamHeaders(reply: FastifyReply): void {
  reply.type(`${EVENT_STREAM}; charset=utf-8`).header('cache-control', 'no-store');
  reply.header('x-accel-buffering', 'no').header('x-stability', 'experimental');
}

export function credentialOf(request: FastifyRequest): Credential | undefined {
  const key = presentedKey(request);
  return key === undefined ? undefined : { key, address: idOfAddress(request.ip) };
}

/**
 * Results as server-sent events, pulled only as fast as the client reads. The stream ends if its caller does not read its
 * responses.
 */
class EventStream extends Readable {
  private readonly keepAlive = setInterval(() => {
    this.countUnsent();
    if (this.readableLength === 0) this.push(this.format.comment());
  }, KEEP_ALIVE_MS).unref();
  private isAsking = false;
  private isOver = false;

  constructor(
    private readonly answers: RunningSubscription,
    private readonly format: EventFormat,
    private readonly response: Writable,
    private readonly unsent: UnsentResponse,
    private readonly onEnd: () => void,
  ) {
    super();
    // A comment makes Node send the headers now, so that the client knows that the stream is open.
    this.push(format.comment());
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
        const chunks = chunksOf(done ? this.format.end : this.format.textOf(value));
        for (const chunk of chunks) this.push(chunk);
        this.countUnsent();
        if (done) this.hangUp();
        // Node reads again only after a push.
        else if (!chunks.length) this._read();
      },
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.isOver = true;
    clearInterval(this.keepAlive);
    this.onEnd();
    this.unsent.release();
    this.answers.return().then(() => callback(error), callback);
  }

  private countUnsent(): void {
    this.unsent.resize(this.readableLength + this.response.writableLength);
  }
}
