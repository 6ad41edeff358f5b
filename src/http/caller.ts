import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AnonymousAccess, anonymousCaller, type Caller } from '../access/caller';
import type { KeyRing } from '../access/key-ring';
import { ProblemError } from '../graphql/errors';
import { problemOfStanding } from '../graphql/limits';
import { subjectOfAddress } from '../rate-limit/client-address';
import { Meter } from '../rate-limit/meter';
import type { Standing } from '../rate-limit/standing';
import type { TallyStore } from '../rate-limit/tally-store';
import { problemBody } from './problems';
import { Tarpit } from './tarpit';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    meter: Meter;
    /** Why its key is not accepted; `undefined` if it is, or if there is none. */
    keyProblem: unknown;
    /** Whether it was refused for going on while banned, before anything else was done. */
    isTurnedAway: boolean;
  }
  interface FastifyContextConfig {
    /**
     * How requests to the route are counted where no operation has been charged: against the quota (unless it says
     * otherwise), `free` of quota but bounded, or not at all (`unmetered`: health, metrics). Both are open to wrong keys.
     */
    metering?: 'free' | 'unmetered';
    /** Whether everybody gets the same answer: it waits for no look-up of a key. */
    isForAnybody?: boolean;
  }
}

export interface Recognition {
  readonly keys: KeyRing;
  readonly limits: TallyStore;
  readonly anonymousAccess: AnonymousAccess;
}

/** Gives every request its caller and its meter, before anything else looks at it. */
export function recogniseCallers(app: FastifyInstance, { keys, limits, anonymousAccess }: Recognition): void {
  // Set by the first hook of every request.
  app.decorateRequest('caller', null as unknown as Caller);
  app.decorateRequest('meter', null as unknown as Meter);
  app.decorateRequest('keyProblem', undefined);

  const admit = (request: FastifyRequest, caller: Caller) => {
    request.caller = caller;
    request.meter = new Meter(limits, caller);
  };
  // A wrong key is counted against the address that it came from: guessing uses up the guesser's own quota.
  const admitAddress = (request: FastifyRequest, address: string, keyProblem?: unknown) => {
    request.keyProblem = keyProblem;
    admit(request, anonymousCaller(address, anonymousAccess));
  };

  app.addHook('onRequest', (request, _reply, done) => {
    const address = subjectOfAddress(request.ip);
    const presented = presentedKey(request);
    const settle = (caller: Caller | undefined) => {
      if (caller) admit(request, caller);
      else admitAddress(request, address, new ProblemError('UNAUTHENTICATED', WRONG_KEY));
      done();
    };
    if (presented === undefined || request.isShed || request.routeOptions.config.isForAnybody) {
      admitAddress(request, address);
      return done();
    }
    const caller = keys.recognise(presented, address, request.raw.socket);
    if (!(caller instanceof Promise)) return settle(caller);
    // It may have to be answered before that is known.
    admitAddress(request, address);
    caller.then(settle, (error) => {
      request.keyProblem = error;
      done();
    });
  });
}

/** Refuses keys that were not accepted, once the answer has the headers that let a browser read it. */
export function refuseWrongKeys(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { keyProblem, routeOptions } = request;
    done(routeOptions.config.metering ? undefined : (keyProblem as Error | undefined));
  });
}

/**
 * Refuses who goes on while banned before its body is read, without a line in the log, and not faster than a tarpit lets it:
 * a flood costs little, and others wait no longer for it. Who has just been banned, or wants to change to WebSocket, is
 * refused further on.
 */
export function refuseBanned(app: FastifyInstance, limits: TallyStore): void {
  const tarpit = new Tarpit();
  app.decorateRequest('isTurnedAway', false);
  app.addHook('onRequest', (request, reply, done) => {
    const { caller, meter, headers, routeOptions } = request;
    if (!limits.wasBanned(caller.id) || headers.upgrade || routeOptions.config.metering === 'unmetered')
      return done();
    const answer = (standing: Standing) => {
      const problem = problemOfStanding(standing);
      if (!problem) return done();
      request.isTurnedAway = true;
      tarpit.refuse(caller.id, () => {
        reply.code(problem.status).type('application/json; charset=utf-8');
        reply.send(JSON.stringify(problemBody(request, problem)));
      });
    };
    const standing = meter.take(1);
    if (standing instanceof Promise) standing.then(answer).catch(done);
    else answer(standing);
  });
}

export const WRONG_KEY = 'The API key is malformed, unknown, revoked or expired.';

/** A whole key, and the subject of the address that it came from. */
export interface PresentedKey {
  readonly whole: string;
  readonly address: string;
}

/** The key that a request came with, for those that it goes on to be looked at for. */
export function keyOf(request: FastifyRequest): PresentedKey | undefined {
  const whole = presentedKey(request);
  return whole === undefined ? undefined : { whole, address: subjectOfAddress(request.ip) };
}

/** `X-API-Key`, or the credentials of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function presentedKey({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['x-api-key'];
  if (key !== undefined) return String(key);
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  return /^bearer +/i.test(authorization) ? authorization.replace(/^bearer +/i, '').trimEnd() : '';
}
