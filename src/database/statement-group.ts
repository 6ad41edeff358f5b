import { type Client, type Connection, DatabaseError, type Submittable } from 'pg';
import { failureOf } from './failures';
import { type PreparedQuery, send } from './prepared-query';

/** The error of a statement that was rolled back without failing itself, or never sent. */
export class UndoneError extends Error {}

/** Missing from node-postgres' type definitions. */
interface Answering extends PreparedQuery {
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
interface Submitted extends Connection {
  /** Statement texts by name. */
  readonly submittedNamedStatements: Record<string, string>;
}

/** Lock timeout (PostgreSQL documentation, appendix A). */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Statements that are sent, executed and committed together, as one transaction with one `sync` (PostgreSQL
 * documentation, 55.2.4: Pipelining). If one fails, all are rolled back: the failed one gets the error, the others (and
 * one that only timed out waiting for a lock) an UndoneError, after which they may be run again. If the connection is
 * lost, the outcome is unknown, and all get that error.
 */
export class StatementGroup implements Submittable {
  private queries: readonly Answering[];
  private isSent = false;
  /** Index of the first statement without a result; their number when only the commit is outstanding. */
  private at = 0;

  /** @param done called before any of the statements is settled. */
  constructor(
    client: Client,
    queries: readonly PreparedQuery[],
    private readonly done: () => void,
  ) {
    this.queries = queries as readonly Answering[];
    for (const query of queries) query.readAs(client);
  }

  /** The statement that node-postgres records as parsed. */
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
    // The server has skipped everything after it, including new statements.
    for (const { name } of this.queries) delete connection.submittedNamedStatements[name];
    this.done();
    const isUndone = !this.isSent || isAnswer(error);
    const failed = this.isSent && (error as DatabaseError).code !== LOCK_NOT_AVAILABLE ? this.at : undefined;
    this.queries.forEach((query, at) => {
      const mayGoOn = isUndone && at !== failed;
      query.handleError(
        mayGoOn ? new UndoneError('rolled back with its group', { cause: error }) : error,
        connection,
      );
    });
  }

  private get current(): Answering | undefined {
    return this.queries[this.at];
  }
}

/** Whether the server itself reported the error and is still there: then nothing has been committed. */
function isAnswer(error: Error): boolean {
  return error instanceof DatabaseError && failureOf(error) !== 'unavailable';
}
