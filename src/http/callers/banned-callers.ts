import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemOfStatus } from '../../errors/limit-problem';
import type { Problem } from '../../errors/problem';
import type { Meter } from '../../rate-limit/meter';
import type { CountingStore } from '../../rate-limit/stores/counting-store';
import { errorAnswer } from '../error-handling';
import { Tarpit } from './tarpit';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request to the route may ask for nothing but its caller's own status, which a banned caller may. */
    mayAskStatus?: boolean;
  }
}

type Done = (error?: Error) => void;

/** A body that asks for no more than its caller's status is at most this large, in bytes. */
const SMALL = 4096;
/** The root fields that tell a caller its own status. */
const STATUS_FIELDS = /\b(?:rateLimit|viewer)\b/;

/**
 * Refuses requests of callers that are already banned: before the body is read, without a log line, and delayed by a
 * tarpit, so that a flood costs little and does not slow down other callers. A small request that may ask for its
 * caller's own status goes on to the executor, which finds out whether it asks for anything else. The request that triggers
 * the ban is refused later.
 */
export class BannedCallers {
  private readonly tarpit = new Tarpit();

  constructor(private readonly limits: CountingStore) {}

  /**
   * Counts an operation of a banned caller.
   * @param query its text, if it is sent.
   * @returns its refusal, once it may be sent; `undefined` if it may go on, as those of all other callers.
   */
  async refuse(meter: Meter, query: unknown): Promise<Problem | undefined> {
    if (!this.isBanned(meter)) return undefined;
    await new Promise<void>((resolve) => this.tarpit.delay(meter.subject.id, resolve));
    return mayAskStatus(query) ? undefined : problemOfStatus(await meter.take(1));
  }

  /** Refuses a request before its body is read, unless it may ask for its caller's status. */
  readonly refuseEarly = (request: FastifyRequest, reply: FastifyReply, done: Done) => {
    const { meter } = request;
    if (!this.isBanned(meter)) return done();
    const mayAsk = request.routeOptions.config.mayAskStatus && isSmall(request);
    this.refuse(meter, mayAsk ? undefined : '')
      .then((problem) => turnAway(request, reply, problem, done))
      .catch(done);
  };

  /** A `preHandler` hook: refuses a GraphQL request whose document asks for nothing of its caller's status. */
  readonly refuseDocument = (request: FastifyRequest, reply: FastifyReply, done: Done) => {
    const { meter, method, body, query } = request;
    const sent = (method === 'POST' ? body : query) as { query?: unknown } | null | undefined;
    if (!this.isBanned(meter) || mayAskStatus(sent?.query)) return done();
    Promise.resolve(meter.take(1))
      .then((limitStatus) => turnAway(request, reply, problemOfStatus(limitStatus), done))
      .catch(done);
  };

  private isBanned({ subject }: Meter): boolean {
    return this.limits.wasBanned(subject.id);
  }
}

function turnAway(request: FastifyRequest, reply: FastifyReply, problem: Problem | undefined, goOn: () => void): void {
  if (!problem) {
    goOn();
    return;
  }
  const { status, type, body } = errorAnswer(request, problem);
  reply.code(status).type(type).send(JSON.stringify(body));
}

/** @param query `undefined` if a document is named by its hash or id, or if the route takes none. */
function mayAskStatus(query: unknown): boolean {
  return query === undefined || STATUS_FIELDS.test(String(query));
}

function isSmall({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL;
}
