import { type Client, type Connection, Query } from 'pg';
import type { Statement } from './database';

/** What node-postgres knows of the rows of an answer. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

/** What node-postgres' own types keep to themselves. */
interface Internals {
  prepare(connection: Connection): void;
  handleRowDescription(message: unknown): void;
}

const internals = Query.prototype as unknown as Internals;

/** How many statements a connection keeps: callers choose what is read, and each takes the server some 16 kB. */
const MOST = 500;

/**
 * One run of a prepared statement. A connection is asked for the statement's columns in its first run only: PostgreSQL never
 * changes them (it refuses to run a statement whose columns would be others), and to describe them again takes longer than to
 * read a row.
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

  /** Has its values read as a client reads them, which says so itself of what it is given alone. */
  readAs(client: Client): void {
    this._result._types = client;
  }

  prepare(connection: Connection): void {
    send(connection, [this]);
  }

  /** Says all but the last message, `sync`. @returns false where a value could not be sent, of which it has told by then. */
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
 * Sends statements in one piece, with one `sync` for them all: together they are a transaction.
 * @returns those that will be answered.
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
  /** Texts by name. */
  readonly parsedStatements: Record<string, string>;
  _send(message: Buffer): void;
  sync(): void;
  close(statement: { type: 'S'; name: string }): void;
}

const outboxes = new WeakMap<Connection, Outbox>();

/** Gathers what is said to a connection, and knows what has been described on it. */
class Outbox {
  readonly columns = new Map<string, Columns>();
  /** The connection, for a statement whose columns are wanted, and for one whose columns are known. */
  readonly described: Connection;
  readonly undescribed: Connection;
  /** Whether node-postgres has taken a statement back: it would close it then. */
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

  /** Has the server forget what it was told of; it is told again of what is still in use. */
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
