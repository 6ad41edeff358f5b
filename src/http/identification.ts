import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { ProblemError } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import { subjectOfAddress } from '../rate-limit/client-address';
import { limitError } from '../rate-limit/limit-status';
import type { Limiter } from '../rate-limit/limiter';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';

/** Where a key came from. */
export interface Origin {
  /** The client's address as a rate-limit subject. Keys that this instance does not know are looked up on its behalf. */
  readonly address: string;
  /** The connection on which the client sent the key. A verified key is cached with it. */
  readonly connection?: object;
}

/** Finds callers by their keys. */
export interface Keys {
  /**
   * Finds the caller with this key; `undefined` if the key is rejected. Returns no promise if the key is cached.
   * @throws ProblemError `RATE_LIMITED` (too many look-ups) or `SERVICE_UNAVAILABLE`, if the key was not checked.
   */
  recognise(key: string, origin: Origin): Caller | undefined | Promise<Caller | undefined>;
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
  anonymousCaller(address: string): Caller;
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
  const anonymous = ({ ip }: FastifyRequest) => anonymousCaller(subjectOfAddress(ip));
  const identify = (request: FastifyRequest, caller: Caller) => {
    request.caller = caller;
    request.meter = new Meter(limits, caller);
  };
  const settle = async (request: FastifyRequest, key: string, recognised: ReturnType<Keys['recognise']>) => {
    const caller = await recognised;
    identify(request, caller ?? anonymous(request));
    if (!caller) request.keyProblem = await rejectKey(request.meter, keys.rejectionReason(key));
  };

  return (request, _reply, done) => {
    // Browsers send no keys with preflights, and every preflight is answered.
    const key = request.method === 'OPTIONS' ? undefined : presentedKey(request);
    if (key === undefined) {
      identify(request, anonymous(request));
      return done();
    }
    const { metering, isPublic } = request.route;
    // During overload no keys are looked up. The exception is `/metrics`, which requires a key and is served even during
    // overload.
    const isChecked = !isPublic && (!request.isShed || metering === 'unmetered');
    const origin = { address: subjectOfAddress(request.ip), connection: request.raw.socket };
    const recognised = isChecked ? keys.recognise(key, origin) : undefined;
    if (recognised && !(recognised instanceof Promise)) {
      identify(request, recognised);
      return done();
    }
    // The response may be sent without a look-up of the key, or before the look-up completes. Such a response must not
    // report the quota or ban of anonymous callers at the same address.
    request.caller = anonymous(request);
    request.meter = new Meter(nothing, UNIDENTIFIED);
    if (!isChecked) return done();
    settle(request, key, recognised).then(
      () => done(),
      (error) => {
        request.keyProblem = error;
        done();
      },
    );
  };
}

/**
 * Charges a wrong key to its address, wherever the key was sent, so that guessing keys uses up the quota of the address.
 * @param meter the meter of the address.
 * @returns the error for the response.
 */
export async function rejectKey(meter: Meter, reason: string): Promise<Error> {
  return limitError(await meter.charge(1)) ?? new ProblemError('UNAUTHENTICATED', reason);
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
