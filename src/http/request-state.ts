import type { FastifyReply } from 'fastify';
import type { Deadline } from '../database/deadline';
import type { ProblemSummary } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import type { Meter } from '../rate-limit/meter';
import type { OperationObserver } from './access-log';
import type { Slot } from './requests-in-progress';

/** What the stages know about a request, in the order in which they find it out. */
declare module 'fastify' {
  interface FastifyRequest {
    /** The `config` of the request's route, kept here because Fastify creates `routeOptions` anew on each access. */
    route: FastifyContextConfig;
    /** The slot of the request among the requests in progress. */
    slot: Slot;
    /** Stops the request's statements at the time limit, or earlier if the client disconnects. */
    deadline: Deadline;
    /** The promise of the route's handler, which may still run after the request has ended. */
    handlerDone: Promise<unknown> | undefined;
    /** Whether the service was overloaded when the request arrived. If so, no key is looked up, and most routes reject it. */
    isOverloaded: boolean;
    /** The caller and its meter. Set before any hook waits, so every response has them. */
    caller: Caller;
    meter: Meter;
    /**
     * The error if the request's key was rejected or could not be checked. `undefined` for a valid key, for a key that was
     * not looked up, and without a key.
     */
    keyProblem: unknown;
    /** Describes the request's operation for logs and metrics; `undefined` if the request ran no operation. */
    observer: OperationObserver | undefined;
    /** The error that rejected the whole request. GraphQL may send it with the HTTP status 200. */
    rejection: ProblemSummary | undefined;
  }

  /** What a route says about its requests. */
  interface FastifyContextConfig {
    /** The name of the route in logs and metrics: `graphql`, `docs`, or the `operationId` of a REST operation. */
    logName?: string;
    /**
     * How a request that runs no operation is charged. By default it counts against the quota. A `page` uses no quota, but has
     * a separate limit. `unmetered` requests (health, metrics) are not charged if they succeed. With either value, requests
     * with a wrong key are served too, unless the route's `check` rejects them.
     */
    metering?: 'page' | 'unmetered';
    /** Whether the response is the same for every caller. If so, keys are not looked up, and bans do not apply. */
    isPublic?: boolean;
    /** Sets headers on all responses of the route, including rejections. */
    annotate?(request: FastifyRequest, reply: FastifyReply): void;
    /**
     * Checks a request before its body is read, once per request. A REST route also counts the uses of a deprecated operation
     * here, since requests that this check or a later stage rejects count too. @throws the error if the route rejects the request.
     */
    check?(request: FastifyRequest, reply: FastifyReply): void;
    /** Whether a request reaches the route although its caller is banned. */
    ignoresBan?(request: FastifyRequest): boolean;
  }
}

/** The properties that the stages add to a request. */
export const REQUEST_STATE = [
  'route',
  'slot',
  'deadline',
  'handlerDone',
  'isOverloaded',
  'caller',
  'meter',
  'keyProblem',
  'observer',
  'rejection',
] as const;
