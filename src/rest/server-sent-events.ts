import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import type { OperationRequest } from '../graphql/context';
import type { LiveResult, RunningSubscription, StartLive } from '../graphql/subscriptions';

/** How the results of a subscription or stream are written as server-sent events. */
export interface EventFormat {
  /** The events of a result, possibly none. */
  textOf(result: FormattedExecutionResult): string;
  /** A comment, which keeps proxies from closing an idle connection. */
  comment(): string;
  /** The last event. */
  readonly end: string;
}

/** Event streams over HTTP, implemented by http/live/sse-streams.ts. */
export interface EventStreams {
  /** Starts a live operation of the request's caller. */
  start(request: FastifyRequest, operation: OperationRequest, start: StartLive): Promise<LiveResult>;
  /** An operation that continues a stream, with a deadline of its own. */
  continuationOf(request: FastifyRequest, operation: OperationRequest): OperationRequest;
  /** Sends the results of a subscription or stream as they come. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    subscription: RunningSubscription,
    format: EventFormat,
  ): FastifyReply;
}
