import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Deadline } from '../database/deadline';
import { ProblemError } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import { idOfAddress, UNKNOWN } from '../rate-limit/client-address';
import { limitError, type Subject } from '../rate-limit/limit-status';
import type { Limiter } from '../rate-limit/limiter';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';
import type { RequestsInProgress } from './requests-in-progress';

/** Why a credential is not accepted. */
export class KeyRejection {
  /** @param chargedTo whose quota the rejection uses; by default, the quota of the client's address. */
  constructor(
    /** A text for the response. */
    readonly reason: string,
    readonly chargedTo?: Subject,
  ) {}
}

/** Where a key or token came from. */
export interface KeySource {
  /** The client's address as a rate-limit subject. Look-ups of keys that this instance does not know count for this address. */
  readonly address: string;
  /** Ends when the client no longer waits for the look-up. */
  readonly deadline: Deadline;
  /** The connection on which the client sent the key. A verified key is cached with it. */
  readonly socket?: object;
  /**
   * Called before a look-up. The request counts for the caller `callerId` until the look-up ends. This is the key's id if this
   * instance knows the key as valid, otherwise one of two ids for the address. @throws ProblemError if this caller has too many
   * requests in progress.
   */
  beforeLookUp?(callerId: string): void;
}

/** Finds callers by their keys or tokens. */
export interface Authenticator {
  /**
   * Finds the caller with this key or token. Returns no promise if the result is cached.
   * @throws ProblemError `RATE_LIMITED` (too many look-ups) or `SERVICE_UNAVAILABLE`, if the key or token was not checked.
   */
  authenticate(key: string, source: KeySource): Caller | KeyRejection | Promise<Caller | KeyRejection>;
}

export interface Identification {
  readonly authenticator: Authenticator;
  readonly limits: Limiter;
  /** Counts the requests whose keys are being looked up. */
  readonly requests: RequestsInProgress;
  /**
   * The caller of a request without a key.
   * @param address the client's address as a rate-limit subject: an IPv4 address, or an IPv6 /64 network.
   */
  anonymousCaller(address: string): Caller;
  /** Called for a request whose trusted proxy sent no readable client address. @param address what the proxy sent instead. */
  onUnreadableAddress(address: string): void;
}

/**
 * The rate-limit subject of requests whose key has not been checked. These requests are not charged, and their responses
 * report a full quota.
 */
const NOBODY = { id: 'unidentified', quota: PLANS.FREE };

/** A meter that charges no caller. Its limit headers report an unused quota. */
export function meterOfNobody(limits: Limiter): Meter {
  const peek = () => limits.peek(NOBODY);
  return new Meter({ take: peek, peek }, NOBODY);
}

/** Sets the caller and the meter of a request. */
export function identifyCallers(options: Identification): onRequestHookHandler {
  const { authenticator, limits, requests, anonymousCaller, onUnreadableAddress } = options;
  const anonymous = ({ ip }: FastifyRequest) => {
    const address = idOfAddress(ip);
    if (address === UNKNOWN && ip !== undefined) onUnreadableAddress(ip);
    return anonymousCaller(address);
  };
  const identify = (request: FastifyRequest, caller: Caller) => {
    request.caller = caller;
    request.meter = new Meter(limits, caller);
  };
  const authenticate = (request: FastifyRequest, key: string): ReturnType<Authenticator['authenticate']> => {
    const { deadline, slot, ip, raw } = request;
    const beforeLookUp = (callerId: string) => requests.countDuringLookUp(slot, { id: callerId });
    try {
      return authenticator.authenticate(key, {
        address: idOfAddress(ip),
        deadline,
        socket: raw.socket,
        beforeLookUp,
      });
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const identifyByKey = async (request: FastifyRequest, authenticated: ReturnType<Authenticator['authenticate']>) => {
    const result = await authenticated;
    if (!(result instanceof KeyRejection)) return identify(request, result);
    identify(request, anonymous(request));
    if (result.chargedTo) request.meter = new Meter(limits, result.chargedTo);
    request.keyProblem = await rejectKey(request.meter, result.reason);
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
    const isChecked = !isPublic && (!request.isOverloaded || metering === 'unmetered');
    const authenticated = isChecked ? authenticate(request, key) : undefined;
    if (authenticated && !(authenticated instanceof Promise || authenticated instanceof KeyRejection)) {
      identify(request, authenticated);
      return done();
    }
    // The response may be sent without a look-up of the key, or before the look-up completes. Such a response must not
    // report the quota or ban of anonymous callers at the same address.
    request.caller = anonymous(request);
    request.meter = meterOfNobody(limits);
    if (!authenticated) return done();
    identifyByKey(request, authenticated).then(
      () => done(),
      (error) => {
        request.keyProblem = error;
        done();
      },
    );
  };
}

/**
 * Charges a request with a key or token that is not accepted, on every interface. By default, the client's address is charged,
 * so that guessing keys uses up the quota of the address.
 * @param meter the meter to charge.
 * @returns the error for the response.
 */
export async function rejectKey(meter: Meter, reason: string): Promise<Error> {
  return limitError(await meter.charge('counted')) ?? new ProblemError('UNAUTHENTICATED', reason);
}

/**
 * The key in a request's `X-API-Key` or `Authorization: Bearer` header (RFC 6750, section 2.1). If `Authorization` has a
 * different scheme, the result is an empty key, which is always rejected. `undefined` if the request has neither header, or empty
 * headers: pages whose user is logged out send empty headers.
 */
export function presentedKey({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['x-api-key'];
  if (key) return String(key);
  const authorization = headers.authorization?.trim();
  if (!authorization) return undefined;
  if (!BEARER.test(authorization)) return '';
  return authorization.replace(BEARER, '') || undefined;
}

const BEARER = /^bearer(?: +|$)/i;
