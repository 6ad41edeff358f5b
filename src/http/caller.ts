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
    /** The `config` of its route. Fastify makes `routeOptions` anew each time they are read. */
    route: FastifyContextConfig;
    caller: Caller;
    meter: Meter;
    /** Why its key was rejected or could not be checked; `undefined` if it was accepted or there is none. */
    keyProblem: unknown;
  }
  interface FastifyContextConfig {
    /**
     * How requests to the route are charged if no operation was charged: against the quota (the default), `free` of quota
     * but limited, or not at all (`unmetered`: health, metrics). Both values also admit requests with a wrong key.
     */
    metering?: 'free' | 'unmetered';
    /** Whether the response is the same for every caller. No key is looked up then. */
    isPublic?: boolean;
  }
}

/** Finds callers by their keys. */
export interface Keys {
  /**
   * The caller with this key; `undefined` if the key is rejected. Synchronous if the key is cached.
   * @param connection the connection that the key was sent on.
   */
  recognise(key: string, connection?: object): Caller | undefined | Promise<Caller | undefined>;
  /** Why {@link recognise} has just rejected a key, for the response. */
  rejectionReason(key: string): string;
}

export interface Identification {
  readonly keys: Keys;
  readonly limits: Limiter;
  /**
   * The caller of a request without a key.
   * @param address the client's address as a rate-limit subject: an IPv4 address, an IPv6 /64.
   */
  anonymousCaller(address: string, headers: IncomingHttpHeaders): Caller;
}

/** A caller whose key is not checked. Nothing is charged, and the headers report a full quota. */
const UNIDENTIFIED = { id: 'unidentified', quota: PLANS.FREE };

/** Sets the caller and the meter of a request. */
export function identifyCallers({ keys, limits, anonymousCaller }: Identification): onRequestHookHandler {
  const peek = () => limits.peek(UNIDENTIFIED);
  const nothing = { take: peek, peek };
  // A wrong key is counted against its client's address, so that guessing uses up the guesser's own quota.
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
    // Metrics are served during overload too, and need a key.
    const isChecked = !isPublic && (!request.isShed || metering === 'unmetered');
    const caller = isChecked ? keys.recognise(key, request.raw.socket) : undefined;
    if (isChecked && !(caller instanceof Promise)) {
      settle(request, key, caller);
      return done();
    }
    // The request may be answered without a look-up or before it completes. The response must not report the quota and the
    // ban of other callers with the same address.
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

/** `X-API-Key`, or the credentials of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function presentedKey({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['x-api-key'];
  if (key !== undefined) return String(key);
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  return /^bearer +/i.test(authorization) ? authorization.replace(/^bearer +/i, '').trimEnd() : '';
}
