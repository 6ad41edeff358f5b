import type { MessagePort } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import { type ConnectionState, mayStart, reportIdle, waitForReader } from './connection-state';
import {
  closeStatement,
  errorResponse,
  Frontend,
  HEADER_BYTES,
  IDLE,
  insertText,
  MessageReader,
  message,
  ProtocolViolation,
  readyForQuery,
  Startup,
  SYNC,
  statementNameOf,
} from './protocol';
import { ResponseBuffer } from './response';

/** How many milliseconds batches may run before control returns to the event loop, which receives new messages. */
const SLICE_MS = 1;

/** `COPY … FROM STDIN` makes PostgreSQL wait for data. PGlite cannot wait, and ends the session. */
const COPY_IN = /\bcopy\b.*\bstdin\b/is;
const COPY_REJECTION = message(Frontend.copyFail, 'COPY FROM STDIN is not supported by the embedded database');

/** Messages of one connection that run together, with no messages of other connections in between. */
interface Batch {
  readonly bytes: Uint8Array;
  /**
   * Whether the server answers the batch with ReadyForQuery. The server does so if the batch ends with Sync, Query or
   * FunctionCall, but not if it ends with Flush.
   */
  readonly isComplete: boolean;
}

/**
 * Serves any number of connections with the single session that PGlite has. A connection owns the session for one batch, or
 * until its transaction ends (PostgreSQL documentation, "Extended Query" and "Pipelining"). The names of prepared statements
 * are separate for each connection; an unnamed statement lasts until the next Sync or Query. Connections share everything
 * else that belongs to a session: settings, temporary tables, session-level advisory locks, LISTEN, PREPARE. There is no
 * authentication: only this process can use the ports.
 *
 * `@electric-sql/pglite-socket` 0.2.17 cannot be used instead. The statement names of different connections collide, the
 * batches of different connections are mixed, and after an exception the package serves no connections.
 */
export class Multiplexer {
  private readonly connections = new Set<Connection>();
  /** The connection with an open transaction, or with an incomplete batch. */
  private owner: Connection | undefined;
  /** Messages that close the prepared statements of ended connections. They are sent before the next batch. */
  private readonly unused: Buffer[] = [];
  private readonly response = new ResponseBuffer();
  /**
   * PGlite's stack pointer, which is restored after each batch. An SQL error leaves WebAssembly through an exception, which
   * does not restore the stack pointer. In PGlite 0.5.8, every statement would fail after 1,701 such errors (`stack depth
   * limit exceeded`).
   */
  private readonly stack: { value: unknown };
  private isRunning = false;
  /** The {@link Connection.usedMs} of the last served connection, before the batch of that connection ran. */
  private servedMs = 0;
  private idleTimer: NodeJS.Timeout | undefined;
  private lastId = 0;

  /**
   * @param idleMs how long a transaction may wait for its client, in milliseconds. All other connections wait during this
   * time.
   * @param beforeTransaction called before each transaction or single statement; returns SQL to run first, if any.
   * @param onFailure called if PGlite's session has ended.
   */
  constructor(
    private readonly engine: PGlite,
    private readonly greeting: Uint8Array,
    private readonly idleMs: number,
    private readonly beforeTransaction: () => string | undefined,
    private readonly onFailure: (error: unknown) => void,
  ) {
    this.stack = (engine.Module as unknown as { ___stack_pointer: { value: unknown } }).___stack_pointer;
  }

  connect(port: MessagePort, state: ConnectionState): void {
    this.lastId += 1;
    const connection = new Connection(`${this.lastId}.`, port, state, this.greeting);
    this.connections.add(connection);
    port.on('message', (bytes: Uint8Array) => {
      connection.receive(bytes);
      this.schedule();
    });
    port.on('close', () => this.disconnect(connection));
  }

  private schedule(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    const until = performance.now() + SLICE_MS;
    try {
      for (let connection = this.next(); connection; connection = this.next()) {
        this.serve(connection);
        if (performance.now() > until) {
          setImmediate(() => this.run());
          return;
        }
      }
      this.isRunning = false;
    } catch (error) {
      this.onFailure(error);
    }
  }

  /**
   * The connection to serve next: the owner of the session, or without an owner, the waiting connection that has used the
   * least time.
   */
  private next(): Connection | undefined {
    if (this.owner) return this.owner.hasWork ? this.owner : undefined;
    let next: Connection | undefined;
    for (const connection of this.connections) {
      if (!connection.hasWork) continue;
      // A connection must not gain priority by having been idle.
      connection.usedMs = Math.max(connection.usedMs, this.servedMs);
      if (!next || connection.usedMs <= next.usedMs) next = connection;
    }
    return next;
  }

  private serve(connection: Connection): void {
    const batch = connection.take();
    const isOwner = this.owner === connection;
    if (!batch) this.disconnect(connection);
    else if (isOwner || mayStart(connection.state)) this.runBatch(connection, batch, isOwner);
    else connection.rejectDropped(batch);
  }

  private runBatch(connection: Connection, batch: Batch, isOwner: boolean): void {
    clearTimeout(this.idleTimer);
    const startedAt = performance.now();
    if (!isOwner) this.prepare();
    const status = this.execute(batch.bytes, batch.isComplete, connection);
    this.servedMs = connection.usedMs;
    connection.usedMs += performance.now() - startedAt;
    if (status === IDLE) {
      this.owner = undefined;
      reportIdle(connection.state);
    } else {
      this.owner = connection;
      if (!connection.hasWork) this.idleTimer = setTimeout(() => this.endIdle(connection), this.idleMs);
    }
  }

  private prepare(): void {
    if (this.unused.length) this.execute(Buffer.concat([...this.unused.splice(0), SYNC]), true);
    const sql = this.beforeTransaction();
    if (sql) this.execute(message(Frontend.query, sql), true);
  }

  /**
   * @param connection receives the response; without a connection the response is discarded.
   * @returns the transaction status, see {@link ResponseBuffer.end}.
   */
  private execute(bytes: Uint8Array, isComplete: boolean, connection?: Connection): number | undefined {
    const send = connection ? connection.send : () => undefined;
    const onRawData = (part: Uint8Array) => this.response.add(part, send);
    const { value } = this.stack;
    // The batch runs synchronously. The promise exists only for `syncToFs`, which is off.
    this.engine.execProtocolRawStream(bytes, { syncToFs: false, onRawData }).catch(this.onFailure);
    this.stack.value = value;
    return this.response.end(isComplete, send);
  }

  /** Ends a connection whose transaction is idle, as PostgreSQL's `idle_in_transaction_session_timeout` does. */
  private endIdle(connection: Connection): void {
    connection.end('25P03', 'terminating connection due to idle-in-transaction timeout');
    this.disconnect(connection);
  }

  /** Ends a connection as PostgreSQL does: rolls back its transaction, and deallocates its prepared statements. */
  private disconnect(connection: Connection): void {
    if (!this.connections.delete(connection)) return;
    connection.close();
    for (const name of connection.names) this.unused.push(closeStatement(connection.prefix + name));
    if (this.owner !== connection) return;
    this.owner = undefined;
    clearTimeout(this.idleTimer);
    try {
      // Sync comes first: after an error, PostgreSQL skips all messages up to the next Sync.
      this.execute(SYNC, true);
      this.execute(message(Frontend.query, 'rollback'), true);
      this.schedule();
    } catch (error) {
      this.onFailure(error);
    }
  }
}

/** The connection of one client. */
class Connection {
  /** The names of the statements that this connection has prepared. */
  readonly names = new Set<string>();
  /** How long the batches of this connection have run, in milliseconds; see {@link Multiplexer.next}. */
  usedMs = 0;
  private readonly batches: Batch[] = [];
  private readonly reader = new MessageReader();
  /** The messages of a batch that is not complete yet. */
  private parts: Uint8Array[] = [];
  /** Whether the client has parsed an unnamed statement since the last Sync or Query. */
  private hasUnnamed = false;
  private isStarted = false;
  private isEnding = false;
  private lastError: Buffer | undefined;
  private mayCopy = false;

  /** @param prefix prepended to the names of prepared statements, which makes them unique in the shared session. */
  constructor(
    readonly prefix: string,
    readonly port: MessagePort,
    readonly state: ConnectionState,
    private readonly greeting: Uint8Array,
  ) {}

  /** Whether the connection has a batch to run, or must be ended. */
  get hasWork(): boolean {
    return this.batches.length > 0 || this.isEnding;
  }

  /** @returns the next batch; `undefined` if the connection must be ended. */
  take(): Batch | undefined {
    return this.batches.shift();
  }

  readonly send = (chunk: Uint8Array<ArrayBuffer>): void => {
    waitForReader(this.state, chunk.length);
    this.port.postMessage(chunk, [chunk.buffer]);
  };

  receive(bytes: Uint8Array): void {
    this.reader.add(bytes);
    try {
      for (let next = this.reader.next(); next && !this.isEnding; next = this.reader.next()) {
        if (this.isStarted) this.queue(next);
        else this.startUp(next);
      }
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      this.end('08P01', error.message);
    }
  }

  /** Ends the connection with an error, after its queued batches. */
  end(sqlState: string, text: string): void {
    this.isEnding = true;
    this.lastError = errorResponse('FATAL', sqlState, text);
  }

  close(): void {
    if (this.lastError) this.send(new Uint8Array(this.lastError));
    this.port.close();
  }

  /** Rejects a batch that the client has dropped before the batch started. */
  rejectDropped({ isComplete }: Batch): void {
    this.send(new Uint8Array(errorResponse('ERROR', '57014', 'canceling statement due to user request')));
    if (isComplete) this.send(new Uint8Array(readyForQuery(IDLE)));
  }

  /**
   * Handles the first message (PostgreSQL documentation, "Message Flow": "Start-up", "SSL Session Encryption", "Canceling
   * Requests in Progress"). A running statement cannot be cancelled. So a cancel request has no effect, and its own
   * connection is closed.
   */
  private startUp(first: Buffer): void {
    const kind = first.readUInt32BE(4);
    if (kind === Startup.sslRequest || kind === Startup.gssRequest) this.send(new Uint8Array(Buffer.from('N')));
    else if (kind === Startup.cancelRequest) this.isEnding = true;
    else if (kind >>> 16 !== Startup.protocol3) throw new ProtocolViolation('unsupported frontend protocol');
    else {
      this.reader.start();
      this.isStarted = true;
      this.send(new Uint8Array(this.greeting));
    }
  }

  private queue(given: Buffer): void {
    const type = given[0];
    switch (type) {
      case Frontend.parse:
      case Frontend.bind:
      case Frontend.describe:
      case Frontend.close:
        this.parts.push(this.withOwnName(given));
        break;
      case Frontend.execute:
        this.parts.push(given, ...this.copyRejection());
        break;
      case Frontend.sync:
      case Frontend.flush:
        this.complete(given, type === Frontend.sync);
        break;
      case Frontend.query:
        this.mayCopy ||= COPY_IN.test(given.toString('utf8', HEADER_BYTES));
        this.complete(Buffer.concat([given, ...this.copyRejection()]), true);
        break;
      case Frontend.functionCall:
        this.complete(given, true);
        break;
      case Frontend.terminate:
        this.isEnding = true;
        break;
      case Frontend.copyData:
      case Frontend.copyDone:
      case Frontend.copyFail:
        break; // data for a COPY that was rejected; PostgreSQL ignores it, too
      default:
        throw new ProtocolViolation(`invalid frontend message type ${type}`);
    }
  }

  private complete(last: Uint8Array, isComplete: boolean): void {
    this.batches.push({ bytes: Buffer.concat([...this.parts, last]), isComplete });
    this.parts = [];
    if (isComplete) this.hasUnnamed = false;
  }

  private copyRejection(): Uint8Array[] {
    return this.mayCopy ? [COPY_REJECTION] : [];
  }

  /** Returns the message with the name that its prepared statement has in the shared session. */
  private withOwnName(given: Buffer): Buffer {
    const named = statementNameOf(given);
    if (!named) return given;
    const { at, name } = named;
    const type = given[0];
    if (type === Frontend.parse) {
      this.mayCopy ||= COPY_IN.test(given.toString('utf8', at));
      this.hasUnnamed ||= !name;
      if (name) this.names.add(name);
    } else if (type === Frontend.close) this.names.delete(name);
    // After a Sync or Query, the session's unnamed statement may belong to another connection. A Bind or Describe of
    // this statement then gets the prefix alone as the name. No statement has this name, so the message fails.
    const isOwnUnnamed = !name && (type === Frontend.parse || type === Frontend.close || this.hasUnnamed);
    return isOwnUnnamed ? given : insertText(given, at, this.prefix);
  }
}
