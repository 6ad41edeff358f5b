import { type Client, type Connection, Query } from 'pg';
import type { Statement } from './database';

/** What node-postgres knows about the rows of a result. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

/** Missing from node-postgres' type definitions. */
interface Internals {
  prepare(connection: Connection): void;
  handleRowDescription(message: unknown): void;
}

const internals = Query.prototype as unknown as Internals;

/** Maximum statements per connection: callers choose what is read, and each takes about 16 kB on the server. */
const MOST = 500;

/**
 * One execution of a prepared statement. Its columns are requested from the server only on a connection's first
 * execution: PostgreSQL never changes them (it refuses to run a statement whose columns would differ), and describing
 * them again takes longer than reading a row.
 */
export class PreparedQuery extends Query {
  declare readonly text: string;
  declare name: string;
  declare callback: (error: Error | null, result: { rows: unknown[] }) => void;
  declare private readonly _result: Columns & { _types: Client };
  declare private _accumulateRows: boolean;
  private described: Map<string, Columns> | undefined;

  constructor({ name, text }: Statement, values: unknown[]) {
    super(text, values);
    this.name = name;
  }

  /** Parses values with the client's type parsers, which the client only sets itself on queries passed to it directly. */
  readAs(client: Client): void {
    this._result._types = client;
  }

  prepare(connection: Connection): void {
    send(connection, [this]);
  }

  /**
   * Writes all messages except the final `sync`.
   * @returns false if a value could not be encoded; the error has then already been reported.
   */
  sayTo(outbox: Outbox): boolean {
    const columns = outbox.columns.get(this.name);
    if (columns) {
      const result = this._result;
      result.fields = columns.fields;
      result._parsers = columns._parsers;
      result._prebuiltEmptyResultObject = columns._prebuiltEmptyResultObject;
      this._accumulateRows = true;
    } else this.described = outbox.columns;
    outbox.isRefused = false;
    internals.prepare.call(this, columns ? outbox.undescribed : outbox.described);
    return !outbox.isRefused;
  }

  handleRowDescription(message: unknown): void {
    internals.handleRowDescription.call(this, message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.described?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/**
 * Sends statements in one write with a single `sync`, which makes them one transaction.
 * @returns the statements that will get a response.
 */
export function send<Q extends PreparedQuery>(connection: Connection, queries: readonly Q[]): Q[] {
  let outbox = outboxes.get(connection);
  if (!outbox) {
    outbox = new Outbox(connection);
    outboxes.set(connection, outbox);
  }
  if (outbox.columns.size >= MOST) outbox.forget();
  const said = queries.filter((query) => query.sayTo(outbox));
  outbox.send();
  return said;
}

interface Sending {
  /** Statement texts by name. */
  readonly parsedStatements: Record<string, string>;
  _send(message: Buffer): void;
  sync(): void;
  close(statement: { type: 'S'; name: string }): void;
}

const outboxes = new WeakMap<Connection, Outbox>();

/** Buffers messages for a connection, and remembers which statements have been described on it. */
class Outbox {
  readonly columns = new Map<string, Columns>();
  /** The connection as seen by a statement whose columns are still unknown, and by one whose columns are known. */
  readonly described: Connection;
  readonly undescribed: Connection;
  /** Whether node-postgres has withdrawn a statement, which it does by closing it. */
  isRefused = false;
  private readonly messages: Buffer[] = [];
  private readonly connection: Sending;

  constructor(connection: Connection) {
    const gathering = {
      _send: (message: Buffer) => void this.messages.push(message),
      sync: () => undefined,
      close: () => {
        this.isRefused = true;
      },
    };
    this.described = Object.setPrototypeOf(gathering, connection);
    this.undescribed = Object.setPrototypeOf({ ...gathering, describe: () => undefined }, connection);
    this.connection = connection as unknown as Sending;
  }

  /** Closes all statements on the server; those still in use are prepared again. */
  forget(): void {
    const { close, parsedStatements } = this.connection;
    for (const name of this.columns.keys()) {
      close.call({ _send: (message: Buffer) => void this.messages.push(message) }, { type: 'S', name });
      delete parsedStatements[name];
    }
    this.columns.clear();
  }

  send(): void {
    this.connection.sync.call(this.described);
    this.connection._send(Buffer.concat(this.messages));
    this.messages.length = 0;
  }
}
