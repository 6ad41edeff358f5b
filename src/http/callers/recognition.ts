import type { FastifyInstance } from 'fastify';
import { anonymousCaller, type Caller } from '../../access/caller';
import type { KeyRing } from '../../access/key-ring';
import { ProblemError } from '../../errors/problem';
import { subjectOfAddress } from '../../rate-limit/client-address';
import { Meter } from '../../rate-limit/meter';
import { PLANS } from '../../rate-limit/plans';
import type { CountingStore } from '../../rate-limit/stores/counting-store';
import type { AccessRule } from './local-access';
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
  readonly anonymousAccess: AccessRule;
}

/** A caller whose key is not checked: nothing is counted, and no status is told but that of an unknown caller. */
const UNIDENTIFIED = { id: 'unidentified', quota: PLANS.FREE };

/** Sets the caller and the meter of every request, before anything else handles it. */
export function recogniseCallers(app: FastifyInstance, { keys, limits, anonymousAccess }: Recognition): void {
  // Set by the first hook of every request.
  for (const name of ['caller', 'meter', 'keyProblem']) app.decorateRequest(name);
  const peek = () => limits.peek(UNIDENTIFIED);
  const nothing = { take: peek, peek };

  app.addHook('onRequest', (request, _reply, done) => {
    const admit = (caller: Caller) => {
      request.caller = caller;
      request.meter = new Meter(limits, caller);
    };
    const settle = (caller: Caller | undefined) => {
      admit(caller ?? request.caller);
      if (!caller) request.keyProblem = new ProblemError('UNAUTHENTICATED', WRONG_KEY);
      done();
    };
    const address = subjectOfAddress(request.ip);
    // Also with a key: a wrong one is counted against its client's address, so that guessing uses up the guesser's own quota.
    admit(anonymousCaller(address, anonymousAccess(request.headers)));
    const presented = presentedKey(request);
    if (presented === undefined) return done();
    // The request may be answered without a look-up or before it completes. Its caller must not be told the quota and the
    // ban of others that share its address.
    request.meter = new Meter(nothing, UNIDENTIFIED);
    if (request.isShed || request.routeOptions.config.isForAnybody) return done();
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
