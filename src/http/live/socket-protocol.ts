import { type ExecutionArgs, type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CloseCode, makeServer, type OperationResult, type Server } from 'graphql-ws';
import type { Caller } from '../../graphql/caller';
import type { Outcome } from '../../graphql/outcome';
import { RunningSubscription } from '../../graphql/running-subscription';
import { presentedKey } from '../caller';
import { tooMany } from './live-operations';
import { type Client, runSocketOperation, type SocketOptions } from './socket-operation';

type Params = Record<string, unknown>;

/** How long a client may take to send `connection_init`. */
const INIT_MS = 3_000;
const TRY_AGAIN_LATER = 1013;

/** An operation that has started: only then is it known whether it is rejected as a whole, which is another message. */
interface Started extends ExecutionArgs {
  readonly result: OperationResult;
}

const resultOf = (args: ExecutionArgs) => (args as Started).result;

/**
 * The protocol graphql-transport-ws over WebSocket: authenticates clients, and runs their subscriptions, queries and
 * mutations.
 */
export function socketProtocol(options: SocketOptions): Server<Client> {
  const started = { schema: options.schema };
  return makeServer<Params, Client>({
    connectionInitWaitTimeout: INIT_MS,
    onConnect: ({ connectionParams, extra }) => authenticate(extra, connectionParams, options),
    onSubscribe: async ({ extra }, _id, payload): Promise<Started | GraphQLError[]> => {
      const { result, document, operationName } = await options.requests.during(extra.caller.id, (rejection) =>
        runSocketOperation(extra, payload, options, rejection),
      );
      if (!document) return errorsOf(result);
      if (result instanceof RunningSubscription)
        return {
          ...started,
          document,
          operationName,
          result: result as AsyncIterable<ExecutionResult> as OperationResult,
        };
      if (result.status !== 200) return errorsOf(result);
      return { ...started, document, operationName, result: result.body as ExecutionResult };
    },
    execute: resultOf,
    subscribe: resultOf,
    onNext: (_connection, _id, _payload, _args, result) => result,
  });
}

/** Handles the first message. It may carry a key, which browsers cannot send with the upgrade request. */
async function authenticate(
  client: Client,
  params: Params = {},
  { keys, limits, live, logger }: SocketOptions,
): Promise<boolean> {
  const key = keyIn(params);
  if (key === undefined) return true;
  const refuse = (code: number, reason: string) => {
    client.socket.close(code, reason);
    return false;
  };
  let caller: Caller | undefined;
  try {
    caller = await keys.recognise(key);
  } catch (error) {
    logger.error(error);
    return refuse(TRY_AGAIN_LATER, 'The key cannot be checked at the moment.');
  }
  if (!caller) {
    await limits.take(client.address, 1, 'counted');
    return refuse(CloseCode.Forbidden, keys.refusalOf(key));
  }
  const leave = live.connections.take(caller.id);
  if (!leave) return refuse(TRY_AGAIN_LATER, tooMany(live.connections.most).message);
  client.leave();
  Object.assign(client, { caller, key, leave });
  // The client may have left meanwhile.
  if (client.socket.readyState !== client.socket.OPEN) leave();
  return true;
}

/** The key in the parameters of `connection_init`: under a header's name in any case, or as `apiKey`. */
function keyIn(params: Params): string | undefined {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    // What is no text is no key either, but was meant as one: the empty one, which nobody has.
    if (value !== null && value !== undefined) headers[name.toLowerCase()] = typeof value === 'string' ? value : '';
  }
  return headers.apikey ?? presentedKey({ headers });
}

function errorsOf({ body }: Outcome): GraphQLError[] {
  return (body.errors ?? []).map((error) => new FormattedError(error));
}

class FormattedError extends GraphQLError {
  constructor(private readonly formatted: GraphQLFormattedError) {
    super(formatted.message);
  }

  override toJSON(): GraphQLFormattedError {
    return this.formatted;
  }
}
