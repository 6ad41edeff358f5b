import type { FastifyRequest } from 'fastify';
import type { Observer } from '../graphql/context';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its operation told of itself; `undefined` where none has run. */
    observation: Observation | undefined;
  }
  interface FastifyContextConfig {
    /** What requests to the route are called in logs and metrics: the `operationId`, `graphql`, `docs`. */
    operation?: string;
  }
}

/** A client may call its operation anything. */
const MAX_NAME = 100;

/** What one request's operation tells of itself, for logs and metrics. */
export class Observation implements Observer {
  /** `query pets` */
  operation: string | undefined;
  /** As the client calls it. */
  name: string | undefined;
  /** Whether something that it needs was out of reach, whatever the status of its answer. */
  isUnavailable = false;

  /** @param log for errors that the caller is not told about. */
  constructor(private readonly log: { error(error: unknown): void }) {}

  onOperation(operation: string, name: string | undefined): void {
    this.operation = operation;
    this.name = name?.slice(0, MAX_NAME);
  }

  onInternalError(error: unknown): void {
    this.log.error(error);
  }

  onUnavailable(): void {
    this.isUnavailable = true;
  }
}

/** What a request was for, in words of this service only: `getPet`, `query pets`, `graphql`, `docs`, `other`. */
export function operationOf({ observation, routeOptions }: FastifyRequest): string {
  const { operation = 'other' } = routeOptions.config;
  return operation === 'graphql' ? (observation?.operation ?? operation) : operation;
}
