import { type Connection, Query } from 'pg';
import type { Statement } from './database';

/** What node-postgres knows of the rows of an answer. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

/** What node-postgres' own types keep to themselves. */
interface Sending {
  _send(message: Buffer): void;
  sync(): void;
}
interface Internals {
  prepare(connection: Connection): void;
  handleRowDescription(message: unknown): void;
}

const internals = Query.prototype as unknown as Internals;

/**
 * One run of a prepared statement. A connection is asked for the statement's columns in its first run only: PostgreSQL never
 * changes them (it refuses to run a statement whose columns would be others), and to describe them again takes longer than to
 * read a row.
 */
export class PreparedQuery extends Query {
  declare readonly text: string;
  declare name: string;
  declare private readonly _result: Columns;
  declare private _accumulateRows: boolean;
  private described: Described | undefined;

  constructor({ name, text }: Statement, values: unknown[]) {
    super(text, values);
    this.name = name;
  }

  prepare(connection: Connection): void {
    const described = describedOn(connection);
    const columns = described.columns.get(this.name);
    if (columns) {
      const result = this._result;
      result.fields = columns.fields;
      result._parsers = columns._parsers;
      result._prebuiltEmptyResultObject = columns._prebuiltEmptyResultObject;
      this._accumulateRows = true;
    } else this.described = described;
    internals.prepare.call(this, columns ? described.taciturn : connection);
  }

  handleRowDescription(message: unknown): void {
    internals.handleRowDescription.call(this, message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.described?.columns.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/** What has been described on one connection. */
interface Described {
  readonly columns: Map<string, Columns>;
  /** The connection, which describes nothing, and says all the rest at once. */
  readonly taciturn: Connection;
}

const connections = new WeakMap<Connection, Described>();

function describedOn(connection: Connection): Described {
  let described = connections.get(connection);
  if (!described) {
    described = { columns: new Map(), taciturn: taciturn(connection) };
    connections.set(connection, described);
  }
  return described;
}

/** A statement is sent in three messages, of which `sync` is the last. */
function taciturn(connection: Connection): Connection {
  const sending = connection as unknown as Sending;
  const messages: Buffer[] = [];
  const own: Sending & { describe(): void } = {
    describe: () => undefined,
    _send: (message) => void messages.push(message),
    sync() {
      sending.sync.call(this);
      sending._send(Buffer.concat(messages));
      messages.length = 0;
    },
  };
  return Object.setPrototypeOf(own, connection) as Connection;
}
