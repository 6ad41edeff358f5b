import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Deadline } from '../database/deadline';
import type { Told } from '../errors/errors';
import type { Caller } from '../graphql/caller';
import type { Api, Observer } from '../graphql/context';
import type { Meter } from '../rate-limit/meter';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its operation reported; `undefined` if none has run. */
    observation: Observation | undefined;
    /** The error that it is refused with as a whole, whatever the HTTP status. */
    refusal: Told | undefined;
  }
  interface FastifyContextConfig {
    /** The name of the route in logs and metrics: the `operationId`, `graphql`, `docs`. */
    operation?: string;
  }
}

/** A request, or an operation that came over WebSocket, with its caller. */
export interface Incoming {
  readonly id: string;
  readonly caller: Caller;
  readonly meter: Meter;
  /** When its work has to end. */
  readonly deadline: Deadline;
  readonly headers?: IncomingHttpHeaders;
  observation?: Observation;
}

/** Maximum length of an operation's name, which the client chooses. */
const MAX_NAME = 100;

/** What the operation of one request reports, for logs and metrics. */
export class Observation implements Observer {
  /** `query pets` */
  operation: string | undefined;
  name: string | undefined;
  /** The error of the highest status that the caller is told, whatever the HTTP status. */
  worst: Told | undefined;

  /** @param logger receives errors whose details are hidden from the caller. */
  constructor(
    private readonly logger: { error(entry: { err: unknown; requestId: string }): void },
    private readonly requestId: string,
  ) {}

  onOperation(operation: string, name: string | undefined): void {
    this.operation = operation;
    this.name = name?.slice(0, MAX_NAME);
  }

  onInternalError(err: unknown): void {
    this.logger.error({ err, requestId: this.requestId });
  }

  onProblem(problem: Told): void {
    if (!this.worst || problem.status > this.worst.status) this.worst = problem;
  }
}

/** The error that describes how a request ended; `undefined` for one without errors. */
export function errorOf({ refusal, observation }: FastifyRequest): Told | undefined {
  return refusal ?? observation?.worst;
}

/** By which interface a request came; `other` for health, metrics, pages, and paths that are not there. */
export type Interface = Api['name'] | 'other';

export function interfaceOf({ routeOptions }: FastifyRequest): Interface {
  const { operation, metering } = routeOptions.config;
  if (operation === undefined || metering) return 'other';
  return operation === 'graphql' ? 'graphql' : 'rest';
}

/** The operation of a request, never named by the client: `getPet`, `query pets`, `graphql`, `docs`, `other`. */
export function operationOf({ observation, routeOptions }: FastifyRequest): string {
  const { operation = 'other' } = routeOptions.config;
  return operation === 'graphql' ? (observation?.operation ?? operation) : operation;
}
