import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { Deadline } from '../../database/deadline';
import { ProblemError } from '../../errors/errors';
import type { Caller } from '../../graphql/caller';
import type { OperationRequest } from '../../graphql/context';
import { refusal } from '../../graphql/outcome';
import { RunningSubscription } from '../../graphql/running-subscription';
import { refusalOf } from '../../rate-limit/limit-problem';
import type { Subject } from '../../rate-limit/limit-status';
import type { Limiter } from '../../rate-limit/limiter';
import { Meter } from '../../rate-limit/meter';
import { type AccessLog, type Incoming, isTurnedAway } from '../access-log';
import type { Keys } from '../caller';
import type { RequestsInProgress } from '../requests-in-progress';
import type { LiveOperations, LiveResult } from './live-operations';

/** One connection. Its caller is identified by the upgrade request, or else by the first message. */
export interface Client {
  readonly socket: WebSocket;
  /** What wrong keys are counted against. */
  readonly address: Subject;
  caller: Caller;
  /** Checked again for each operation. */
  key: string | undefined;
  /** The deadlines of its operations. */
  readonly running: Set<Deadline>;
  /** Releases its slot among its caller's connections. */
  leave(): void;
}

export interface SocketOptions {
  readonly schema: GraphQLSchema;
  readonly keys: Keys;
  readonly limits: Limiter;
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  readonly logger: FastifyBaseLogger;
  requestOf(incoming: Incoming): OperationRequest;
}

/**
 * Runs an operation that came over WebSocket, with what the hooks do for one over HTTP: its key is checked again, it is
 * counted if it is rejected before it was charged, and logged.
 * @param rejection why it is not run, whoever it is from: it is not charged then.
 */
export async function runSocketOperation(
  client: Client,
  payload: unknown,
  options: SocketOptions,
  rejection: ProblemError | undefined,
): Promise<LiveResult> {
  const { keys, limits, accessLog, requestOf } = options;
  const started = performance.now();
  const requestId = randomUUID();
  const deadline = new Deadline(options.requests.limitMs);
  const incoming = (caller: Caller): Incoming => ({
    deadline,
    id: requestId,
    caller,
    meter: new Meter(limits, caller),
  });
  let asked = incoming(client.caller);
  let request = requestOf(asked);
  let live: LiveResult;
  client.running.add(deadline);
  try {
    if (rejection) throw rejection;
    asked = incoming(await callerOf(client, keys));
    request = requestOf(asked);
    live = await options.live.run(payload, request, client.key);
  } catch (error) {
    live = { result: refusal(error, { request }) };
  } finally {
    client.running.delete(deadline);
    deadline.end();
  }
  if (!rejection && !(live.result instanceof RunningSubscription) && live.result.status < 500) {
    const refused = refusalOf(await request.meter.take(1));
    if (refused && live.result.status !== 429) live = { result: refusal(refused, { request }) };
  }
  const { result } = live;
  const { operation = 'graphql', name: operationName, worst } = asked.observation ?? {};
  const status = result instanceof RunningSubscription ? 200 : result.status;
  const ms = performance.now() - started;
  const caller = request.caller.id;
  const entry = { requestId, method: 'WEBSOCKET', caller, operation, operationName, status, code: worst?.code, ms };
  accessLog.record(entry, isTurnedAway(status, request.meter), worst && { ...worst, interface: 'graphql' });
  return live;
}

/** @throws ProblemError if the key is no longer accepted; the connection is then closed. */
async function callerOf({ key, caller, socket }: Client, keys: Keys): Promise<Caller> {
  if (key === undefined) return caller;
  const current = await keys.recognise(key);
  if (current) return current;
  const reason = keys.refusalOf(key);
  socket.close(CloseCode.Forbidden, reason);
  throw new ProblemError('UNAUTHENTICATED', reason);
}
