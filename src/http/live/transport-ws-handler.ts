import {
  CloseCode,
  type CompleteMessage,
  type ConnectionAckMessage,
  type ErrorMessage,
  GRAPHQL_TRANSPORT_WS_PROTOCOL,
  type Message,
  MessageType,
  type NextMessage,
  type PongMessage,
  type SubscribePayload,
  validateMessage,
} from 'graphql-ws';
import { Deadline } from '../../database/deadline';
import type { ProblemError } from '../../errors/errors';
import { isDeeper } from '../../errors/input-checks';
import { serialize } from '../../graphql/serialization';
import { type LiveResult, RunningSubscription } from '../../graphql/subscriptions';
import type { UnsentResponse } from '../unsent-responses';

/** How long a client may take to send `connection_init`, in milliseconds. */
export const INIT_MS = 3_000;
/** Maximum length of the reason in a close frame, in bytes (RFC 6455, section 5.5). */
const MAX_REASON = 123;
const INVALID = 'Invalid message received';
const TOO_DEEP = 'A message has at most 100 nesting levels';

export type Params = Record<string, unknown>;

type Sent = ConnectionAckMessage | PongMessage | NextMessage | ErrorMessage | CompleteMessage;

interface TransportWsOptions {
  /** The subprotocol that the client and the server have agreed on; empty if there is none. */
  readonly protocol: string;
  /** Time limit of a query, of a mutation, and of the start of a subscription, in milliseconds. */
  readonly limitMs: number;
  /** Resolves once the message is written, so that events are read only as fast as the client reads them. */
  send(text: string): Promise<void>;
  close(code: number, reason: string): void;
  /** The error that ends a subscription while its caller has too many unread responses. */
  unreadProblem(): ProblemError | undefined;
  /** Handles the payload of `connection_init`. @returns `false` if this closed the connection. */
  authenticate(params?: Params): Promise<boolean>;
  /** Runs an operation. Never rejects because of the operation, but reports its errors in the result. */
  /** @param bytes the length of the message. */
  runOperation(payload: SubscribePayload, bytes: number, operation: ConnectionOperation): Promise<LiveResult>;
}

/**
 * The server side of the protocol graphql-transport-ws on one connection. It owns the operations of the connection: an
 * operation ends when it is complete, with the client's `complete` message, or with the connection.
 *
 * The server of the package graphql-ws is not used. It identifies an operation only by the id that the client chose. After
 * `complete`, a client may use the id again while the earlier operation is still ending. The package then sends the earlier
 * operation's results to the later operation, and loses track of subscriptions.
 */
export class TransportWsHandler {
  private readonly operations = new Map<string, ConnectionOperation>();
  private isInitialised = false;
  private isAcknowledged = false;
  private isClosed = false;
  private readonly initialising = setTimeout(
    () => this.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout'),
    INIT_MS,
  );

  constructor(private readonly options: TransportWsOptions) {
    if (options.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL)
      this.close(CloseCode.SubprotocolNotAcceptable, 'Subprotocol not acceptable');
  }

  /** Handles a message. Resolves when all of the work that the message causes is done. */
  async receive(text: string): Promise<void> {
    if (this.isClosed) return;
    const message = parse(text);
    if (typeof message === 'string') return this.close(CloseCode.BadRequest, message);
    switch (message.type) {
      case MessageType.ConnectionInit:
        return this.initialise(message.payload);
      case MessageType.Ping:
        return this.send({ type: MessageType.Pong, payload: message.payload ?? undefined });
      case MessageType.Pong:
        return;
      case MessageType.Subscribe:
        return this.start(message.id, message.payload, Buffer.byteLength(text));
      case MessageType.Complete:
        return this.complete(message.id);
      default:
        return this.close(CloseCode.BadRequest, INVALID);
    }
  }

  /** Ends all operations. Called when the connection is closed. */
  end(): void {
    this.isClosed = true;
    clearTimeout(this.initialising);
    for (const id of [...this.operations.keys()]) this.complete(id);
  }

  private async initialise(params: Params | undefined): Promise<void> {
    if (this.isInitialised)
      return this.close(CloseCode.TooManyInitialisationRequests, 'Too many initialisation requests');
    this.isInitialised = true;
    clearTimeout(this.initialising);
    if (!(await this.options.authenticate(params ?? undefined)) || this.isClosed) return;
    this.isAcknowledged = true;
    await this.send({ type: MessageType.ConnectionAck });
  }

  private async start(id: string, payload: SubscribePayload, bytes: number): Promise<void> {
    if (!this.isAcknowledged) return this.close(CloseCode.Unauthorized, 'Unauthorized');
    if (this.operations.has(id)) {
      const reason = `Subscriber for ${id} already exists`;
      const isShort = Buffer.byteLength(reason) <= MAX_REASON;
      return this.close(CloseCode.SubscriberAlreadyExists, isShort ? reason : 'Subscriber already exists');
    }
    const operation = new ConnectionOperation(this.options.limitMs);
    this.operations.set(id, operation);
    const result = await this.options.runOperation(payload, bytes, operation);
    let last: Sent = { id, type: MessageType.Complete };
    if (result instanceof RunningSubscription) {
      operation.keep(result);
      for await (const response of result) {
        const sent = this.send({ id, type: MessageType.Next, payload: response });
        const problem = this.options.unreadProblem();
        if (problem) result.end(problem);
        await sent;
      }
    } else if (result.status !== 200) {
      last = { id, type: MessageType.Error, payload: result.body.errors ?? [] };
    } else if (!operation.isOver) {
      const sent = this.send({ id, type: MessageType.Next, payload: result.body });
      operation.reserved?.cancel();
      await sent;
    }
    // The client or the server has ended the operation before it was complete. Its id may now belong to another operation.
    if (operation.isOver) return;
    this.complete(id);
    await this.send(last);
  }

  /** Ends the operation with this id, if it exists. The id may then be used again. */
  private complete(id: string): void {
    const operation = this.operations.get(id);
    this.operations.delete(id);
    operation?.end();
  }

  private send(message: Sent): Promise<void> {
    return this.options.send(message.type === MessageType.Next ? serialize(message) : JSON.stringify(message));
  }

  private close(code: CloseCode, reason: string): void {
    this.end();
    this.options.close(code, reason);
  }
}

/** An operation of a connection, from its `subscribe` message until it ends. */
export class ConnectionOperation {
  /** Whether the operation has ended. Nothing is sent for it any more. */
  isOver = false;
  /** The deadline of a query or mutation, or of the start of a subscription. */
  readonly startDeadline: Deadline;
  /**
   * Counts the result towards the caller's limit on unread bytes until its message is queued. Without this, several results
   * that become ready at the same time could pass the check together and exceed the limit.
   */
  reserved: UnsentResponse | undefined;
  private subscription: RunningSubscription | undefined;

  constructor(limitMs: number) {
    this.startDeadline = new Deadline(limitMs);
  }

  /** Ends the subscription together with this operation. */
  keep(subscription: RunningSubscription): void {
    this.subscription = subscription;
    if (this.isOver) void subscription.return();
  }

  end(): void {
    this.isOver = true;
    this.startDeadline.end();
    this.reserved?.cancel();
    void this.subscription?.return();
  }
}

/** Parses a message of a client. @returns the reason to close the connection if the message is not valid. */
function parse(text: string): Message | string {
  let message: Message;
  try {
    message = validateMessage(JSON.parse(text));
  } catch {
    return INVALID;
  }
  // The payload of a ping is sent back, and `JSON.stringify` recurses.
  return message.type === MessageType.Ping && isDeeper(message) ? TOO_DEEP : message;
}
