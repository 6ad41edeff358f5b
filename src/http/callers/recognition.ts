import type { FastifyInstance } from 'fastify';
import { type AnonymousAccess, anonymousCaller, type Caller } from '../../access/caller';
import type { KeyRing } from '../../access/key-ring';
import { ProblemError } from '../../errors/problem';
import { subjectOfAddress } from '../../rate-limit/client-address';
import { Meter } from '../../rate-limit/meter';
import type { CountingStore } from '../../rate-limit/stores/counting-store';
import { presentedKey, WRONG_KEY } from './presented-key';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    meter: Meter;
    /** Why its key was rejected or could not be checked; `undefined` if it was accepted or there is none. */
    keyProblem: unknown;
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

export interface Recognition {
  readonly keys: KeyRing;
  readonly limits: CountingStore;
  readonly anonymousAccess: AnonymousAccess;
}

/** Sets the caller and the meter of every request, before anything else handles it. */
export function recogniseCallers(app: FastifyInstance, { keys, limits, anonymousAccess }: Recognition): void {
  // Set by the first hook of every request.
  for (const name of ['caller', 'meter', 'keyProblem']) app.decorateRequest(name);

  app.addHook('onRequest', (request, _reply, done) => {
    const admit = (caller: Caller) => {
      request.caller = caller;
      request.meter = new Meter(limits, caller);
    };
    const settle = (caller: Caller | undefined) => {
      if (caller) admit(caller);
      else request.keyProblem = new ProblemError('UNAUTHENTICATED', WRONG_KEY);
      done();
    };
    const address = subjectOfAddress(request.ip);
    // Also with a key: a wrong one is counted against its client's address, so that guessing uses up the guesser's own
    // quota, and the request may have to be answered before the look-up completes.
    admit(anonymousCaller(address, anonymousAccess));
    const presented = presentedKey(request);
    if (presented === undefined || request.isShed || request.routeOptions.config.isForAnybody) return done();
    const caller = keys.recognise(presented, address, request.raw.socket);
    if (!(caller instanceof Promise)) return settle(caller);
    caller.then(settle, (error) => {
      request.keyProblem = error;
      done();
    });
  });
}

/** Refuses requests whose key was rejected, once the response has the CORS headers that let a browser read it. */
export function refuseWrongKeys(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { keyProblem } = request;
    // Fastify makes the route's options anew each time they are read.
    if (keyProblem === undefined || request.routeOptions.config.metering) return done();
    done(keyProblem as Error);
  });
}
