import { EventEmitter } from 'node:events';
import { type Client, type Connection, DatabaseError } from 'pg';
import { PreparedQuery } from '../../src/database/prepared-query';
import { statement } from '../../src/database/statement';
import { StatementGroup, UndoneError } from '../../src/database/statement-group';

/** What node-postgres calls on a connection, with no effect. */
function silentConnection() {
  const nothing = () => undefined;
  const said = {
    parse: nothing,
    bind: nothing,
    describe: nothing,
    execute: nothing,
    sync: nothing,
    _send: nothing,
  };
  const names = { parsedStatements: {}, submittedNamedStatements: {} as Record<string, string> };
  return Object.assign(new EventEmitter(), said, names) as unknown as Connection & typeof names;
}

function answer(code: string): DatabaseError {
  return Object.assign(new DatabaseError('refused', 1, 'error'), { code });
}

describe('in a group of statements that fails', () => {
  const TEXTS = ['select 1', 'select 2', 'select 3'];
  let connection: ReturnType<typeof silentConnection>;
  let told: (Error | null)[];
  let group: StatementGroup;
  beforeEach(() => {
    connection = silentConnection();
    told = [];
    const queries = TEXTS.map((text, at) => {
      const query = new PreparedQuery(statement(text), []);
      query.callback = (error) => {
        told[at] = error;
      };
      return query;
    });
    group = new StatementGroup({} as Client, queries, () => undefined);
  });

  /** Its responses up to the one that fails. */
  function failAfter(answers: number, error: Error): void {
    group.submit(connection);
    for (let i = 0; i < answers; i++) group.handleCommandComplete({ text: 'SELECT 1' }, connection);
    expect(group.name).toBe(TEXTS[answers] && statement(TEXTS[answers]).name);
    group.handleError(error, connection);
  }

  const undone = expect.any(UndoneError);

  test.each([0, 1, 2])('the failed one gets its error, the others are told they were undone: %i', (at) => {
    const error = answer('23503');
    failAfter(at, error);
    expect(told).toEqual(TEXTS.map((_, i) => (i === at ? error : undone)));
  });

  test.each([
    ['the commit fails', 3, '23505'],
    ['a lock was not available', 0, '55P03'],
  ])('all are told they were undone if %s', (_why, answers, code) => {
    failAfter(answers, answer(code));
    expect(told).toEqual([undone, undone, undone]);
  });

  test.each([
    answer('57P01'),
    Object.assign(new Error('write EPROTO'), { code: 'EPROTO' }),
    Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' }),
    new Error('Received unexpected commandComplete message from backend.'),
  ])('all get the error of a lost connection, as their outcome is unknown: %s', (error) => {
    failAfter(3, error);
    expect(told).toEqual([error, error, error]);
  });

  test('all are told they were undone if none was sent', () => {
    group.handleError(new Error('Client was closed and is not queryable'), connection);
    expect(told).toEqual([undone, undone, undone]);
  });

  test('no statement that the server may have skipped counts as known to it', () => {
    failAfter(1, answer('23503'));
    expect(connection.submittedNamedStatements).toEqual({});
  });
});
