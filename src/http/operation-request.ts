import type { IncomingHttpHeaders } from 'node:http';
import type { Database } from '../database/database';
import type { Deadline } from '../database/deadline';
import { type Caller, visibilityOf } from '../graphql/caller';
import { type CreateOperationRequest, GRAPHQL_API, type OperationRequest } from '../graphql/context';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency';
import type { Meter } from '../rate-limit/meter';
import { OperationObserver } from './access-log';
import type { ErrorLog } from './error-log';

/** An HTTP request, or an operation received over WebSocket, with its caller. */
export interface IncomingRequest {
  readonly id: string;
  readonly caller: Caller;
  readonly meter: Meter;
  readonly deadline: Deadline;
  /** The HTTP method; `undefined` for an operation over WebSocket. */
  readonly method?: string;
  readonly headers?: IncomingHttpHeaders;
  /** The observer of the operation, set when the operation request is created. */
  observer?: OperationObserver;
}

export interface OperationRequestOptions {
  readonly database: Database;
  readonly errorLog: ErrorLog;
  /** Maximum size in bytes of the rows of one SQL statement that reads a caller's selection. */
  readonly maxStatementBytes: number;
}

export function operationRequestCreator({
  database,
  errorLog,
  maxStatementBytes,
}: OperationRequestOptions): CreateOperationRequest<IncomingRequest> {
  return (incoming, api, idempotency) => {
    const { id: requestId, caller, meter, deadline, method } = incoming;
    const isSafe = method === 'GET' || method === 'HEAD';
    const observer = new OperationObserver(errorLog, requestId);
    incoming.observer = observer;
    const session = database.sessionFor({
      callerId: caller.id,
      address: caller.address,
      deadline,
      maxStatementBytes,
      visibility: visibilityOf(caller),
      requestId,
      actor: caller.keyId ?? caller.user,
    });
    return { session, caller, meter, requestId, observer, api, isSafe, idempotency };
  };
}

/** Creates the executor's request for an operation of the GraphQL interface. */
export type CreateGraphQLOperationRequest = (incoming: IncomingRequest) => OperationRequest;

export function graphQLOperationRequestCreator(
  createOperationRequest: CreateOperationRequest<IncomingRequest>,
): CreateGraphQLOperationRequest {
  return (incoming) => {
    const key = incoming.headers?.[IDEMPOTENCY_KEY];
    return createOperationRequest(incoming, GRAPHQL_API, key === undefined ? undefined : { header: String(key) });
  };
}
