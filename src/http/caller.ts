import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { ProblemError } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import { subjectOfAddress } from '../rate-limit/client-address';
import type { Limiter } from '../rate-limit/limiter';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';

declare module 'fastify' {
  interface FastifyRequest {
    /** The `config` of the request's route, kept here because Fastify creates `routeOptions` anew on each access. */
    route: FastifyContextConfig;
    caller: Caller;
    meter: Meter;
    /**
     * The error if the request's key was rejected or could not be checked. `undefined` for a valid key, for a key that was
     * not looked up, and without a key.
     */
    keyProblem: unknown;
  }
  interface FastifyContextConfig {
    /**
     * How a request that runs no operation is charged. By default it counts against the quota. `free` requests use no quota,
     * but have a separate limit. `unmetered` requests (health, metrics) are neither charged nor limited. With either value,
     * requests with a wrong key are served too, unless the route's `reject` rejects them.
     */
    metering?: 'free' | 'unmetered';
    /** Whether the response is the same for every caller. If so, keys are not looked up. */
    isPublic?: boolean;
  }
}

/** Finds callers by their keys. */
export interface Keys {
  /**
   * Finds the caller with this key; `undefined` if the key is rejected. Returns no promise if the key is cached.
   * @param connection the connection on which the client sent the key.
   */
  recognise(key: string, connection?: object): Caller | undefined | Promise<Caller | undefined>;
  /** Explains, in a text for the response, why {@link recognise} has just rejected a key. */
  rejectionReason(key: string): string;
}

export interface Identification {
  readonly keys: Keys;
  readonly limits: Limiter;
  /**
   * The caller of a request without a key.
   * @param address the client's address as a rate-limit subject: an IPv4 address, or an IPv6 /64 network.
   */
  anonymousCaller(address: string, headers: IncomingHttpHeaders): Caller;
}

/**
 * The rate-limit subject of requests whose key has not been checked. These requests are not charged, and their responses
 * report a full quota.
 */
const UNIDENTIFIED = { id: 'unidentified', quota: PLANS.FREE };

/** Sets the caller and the meter of a request. */
export function identifyCallers({ keys, limits, anonymousCaller }: Identification): onRequestHookHandler {
  const peek = () => limits.peek(UNIDENTIFIED);
  const nothing = { take: peek, peek };
  // Requests with a wrong key are charged to the client's address, so guessing keys uses up the quota of that address.
  const anonymous = ({ ip, headers }: FastifyRequest) => anonymousCaller(subjectOfAddress(ip), headers);
  const identify = (request: FastifyRequest, caller: Caller) => {
    request.caller = caller;
    request.meter = new Meter(limits, caller);
  };
  const settle = (request: FastifyRequest, key: string, caller: Caller | undefined) => {
    if (!caller) request.keyProblem = new ProblemError('UNAUTHENTICATED', keys.rejectionReason(key));
    identify(request, caller ?? anonymous(request));
  };

  return (request, _reply, done) => {
    const key = presentedKey(request);
    if (key === undefined) {
      identify(request, anonymous(request));
      return done();
    }
    const { metering, isPublic } = request.route;
    // During overload no keys are looked up. The exception is `/metrics`, which requires a key and is served even during
    // overload.
    const isChecked = !isPublic && (!request.isShed || metering === 'unmetered');
    const caller = isChecked ? keys.recognise(key, request.raw.socket) : undefined;
    if (isChecked && !(caller instanceof Promise)) {
      settle(request, key, caller);
      return done();
    }
    // The response may be sent without a look-up of the key, or before the look-up completes. Such a response must not
    // report the quota or ban of anonymous callers at the same address.
    request.caller = anonymous(request);
    request.meter = new Meter(nothing, UNIDENTIFIED);
    if (!(caller instanceof Promise)) return done();
    caller.then(
      (found) => {
        settle(request, key, found);
        done();
      },
      (error) => {
        request.keyProblem = error;
        done();
      },
    );
  };
}

/**
 * The key in a request's `X-API-Key` or `Authorization: Bearer` header (RFC 6750, section 2.1). If `Authorization` has a
 * different scheme, the result is an empty key, which is always rejected. `undefined` if the request has neither header.
 */
export function presentedKey({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['x-api-key'];
  if (key !== undefined) return String(key);
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  return /^bearer +/i.test(authorization) ? authorization.replace(/^bearer +/i, '').trimEnd() : '';
}
