import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import { subjectOfAddress } from '../rate-limit/client-address';
import type { Limiter } from '../rate-limit/limiter';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';
import type { Overload } from './overload';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    meter: Meter;
    /** Why its key was rejected or could not be checked; `undefined` if it was accepted or there is none. */
    keyProblem: unknown;
    /** Whether it is refused because the process is overloaded: its key is not looked up, and it counts towards no quota and no ban. */
    isShed: boolean;
  }
  interface FastifyContextConfig {
    /**
     * How requests to the route are counted if no operation was charged: against the quota (the default), `free` of quota
     * but bounded, or not at all (`unmetered`: health, metrics). Either value also admits requests with a wrong key.
     */
    metering?: 'free' | 'unmetered';
    /** Whether the response is the same for every caller: no key is looked up then. */
    isForAnybody?: boolean;
  }
}

/** Finds callers by the keys that they send. */
export interface Keys {
  /**
   * The caller with this key; `undefined` if the key is not accepted. Synchronous where it can be.
   * @param connection the connection that the key came on.
   */
  recognise(key: string, connection?: object): Caller | undefined | Promise<Caller | undefined>;
  /** Why {@link recognise} has just not accepted a key, for its sender. */
  refusalOf(key: string): string;
}

export interface Recognition {
  readonly keys: Keys;
  readonly limits: Limiter;
  /**
   * The caller without a key.
   * @param address the client's address as a rate-limit subject: an IPv4 address, an IPv6 /64.
   */
  anonymousCaller(address: string, headers: IncomingHttpHeaders): Caller;
  readonly overload: Overload;
}

/** A caller whose key is not checked: nothing is counted, and no status is told but that of an unknown caller. */
const UNIDENTIFIED = { id: 'unidentified', quota: PLANS.FREE };

/** Sets the caller and the meter of every request. */
export function recogniseCallers(app: FastifyInstance, { keys, limits, anonymousCaller, overload }: Recognition): void {
  // Set by the hook below, before any route.
  for (const name of ['caller', 'meter', 'keyProblem', 'isShed']) app.decorateRequest(name);
  const peek = () => limits.peek(UNIDENTIFIED);
  const nothing = { take: peek, peek };

  app.addHook('onRequest', (request, _reply, done) => {
    request.isShed = overload.isTooMuch;
    const identify = (caller: Caller) => {
      request.caller = caller;
      request.meter = new Meter(limits, caller);
      done();
    };
    const address = subjectOfAddress(request.ip);
    // Also with a key: a wrong one is counted against its client's address, so that guessing uses up the guesser's own quota.
    request.caller = anonymousCaller(address, request.headers);
    const presented = presentedKey(request);
    if (presented === undefined) return identify(request.caller);
    // The request may be answered without a look-up or before it completes. Its caller must not be told the quota and the
    // ban of others that share its address.
    request.meter = new Meter(nothing, UNIDENTIFIED);
    const { metering, isForAnybody } = request.routeOptions.config;
    // Metrics are served during overload too, and need a key.
    if (isForAnybody || (request.isShed && metering !== 'unmetered')) return done();
    const settle = (caller: Caller | undefined) => {
      if (!caller) request.keyProblem = new ProblemError('UNAUTHENTICATED', keys.refusalOf(presented));
      identify(caller ?? request.caller);
    };
    const caller = keys.recognise(presented, request.raw.socket);
    if (!(caller instanceof Promise)) return settle(caller);
    caller.then(settle, (error) => {
      request.keyProblem = error;
      done();
    });
  });
}

/** `X-API-Key`, or the credentials of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function presentedKey({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['x-api-key'];
  if (key !== undefined) return String(key);
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  return /^bearer +/i.test(authorization) ? authorization.replace(/^bearer +/i, '').trimEnd() : '';
}
