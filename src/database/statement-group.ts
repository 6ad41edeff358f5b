import { type Client, type Connection, DatabaseError, type Submittable } from 'pg';
import { failureOf } from './failures';
import { type PreparedQuery, send } from './prepared-query';

/** Why a statement was undone that did not fail itself, or was never sent. */
export class UndoneError extends Error {}

/** What node-postgres' own types keep to themselves. */
interface Answering extends PreparedQuery {
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
interface Submitted extends Connection {
  /** Texts by name. */
  readonly submittedNamedStatements: Record<string, string>;
}

/** A lock was not to be had in time (PostgreSQL documentation, appendix A). */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Statements that are sent, answered and committed together, as one transaction with one `sync` (PostgreSQL documentation,
 * 55.2.4: Pipelining). If one fails, all are undone: it is told why, the others that they may be run again; so is one that
 * only waited too long for a lock. What became of those that a lost connection was at, nobody knows, and they are told so.
 */
export class StatementGroup implements Submittable {
  private queries: readonly Answering[];
  private isSent = false;
  /** The first that is not yet answered; their number when only the commit is. */
  private at = 0;

  /** @param done called before any of them is told what it comes to. */
  constructor(
    client: Client,
    queries: readonly PreparedQuery[],
    private readonly done: () => void,
  ) {
    this.queries = queries as readonly Answering[];
    for (const query of queries) query.readAs(client);
  }

  /** What node-postgres notes as parsed. */
  get name(): string | undefined {
    return this.current?.name;
  }

  get text(): string | undefined {
    return this.current?.text;
  }

  submit(connection: Connection): void {
    this.isSent = true;
    this.queries = send(connection, this.queries);
  }

  handleRowDescription(message: unknown): void {
    this.current?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.current?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.current?.handleCommandComplete(message, connection);
    this.at += 1;
  }

  handleReadyForQuery(connection: Connection): void {
    this.done();
    for (const query of this.queries) query.handleReadyForQuery(connection);
  }

  handleError(error: Error, connection: Submitted): void {
    // The server has passed over all that came after it, new statements among it.
    for (const { name } of this.queries) delete connection.submittedNamedStatements[name];
    this.done();
    const isUndone = !this.isSent || isAnswer(error);
    const failed = this.isSent && (error as DatabaseError).code !== LOCK_NOT_AVAILABLE ? this.at : undefined;
    this.queries.forEach((query, at) => {
      const mayGoOn = isUndone && at !== failed;
      query.handleError(mayGoOn ? new UndoneError('not by itself', { cause: error }) : error, connection);
    });
  }

  private get current(): Answering | undefined {
    return this.queries[this.at];
  }
}

/** Whether the server says so itself, and is there still: then nothing has been committed. */
function isAnswer(error: Error): boolean {
  return error instanceof DatabaseError && failureOf(error) !== 'unavailable';
}
