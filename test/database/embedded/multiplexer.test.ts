import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Database } from '../../../src/database/database';
import { Deadline, Ended, OutcomeUnknown } from '../../../src/database/deadline';
import { connectTo } from '../../../src/database/embedded/embedded';
import type { EmbeddedServer } from '../../../src/database/embedded/embedded-server';
import { statement } from '../../../src/database/statement';
import { startPrepared } from '../../helper/prepared';
import { RawConnection, send } from './raw-connection';

const IDLE_MS = 3_000;

let server: EmbeddedServer;
let database: Database;
let client: Client;
beforeAll(async () => {
  server = await startPrepared(IDLE_MS);
  database = await connectTo(server, 'embedded, in memory', { queue: 100, requestTimeoutMs: 60_000 });
  client = await server.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

const opened: RawConnection[] = [];
afterEach(() => {
  for (const connection of opened.splice(0)) connection.stream.destroy();
});

function open(): RawConnection {
  const connection = new RawConnection(new server.Client().connection.stream);
  opened.push(connection);
  return connection;
}

async function start(): Promise<RawConnection> {
  const connection = open();
  connection.write([send.startup()]);
  await connection.settled(1);
  connection.received.length = 0;
  return connection;
}

/** Sends messages. @returns the responses, up to the given number of ReadyForQuery messages. */
async function ask(connection: RawConnection, ready: number, ...messages: Buffer[]): Promise<string[]> {
  const from = connection.received.length;
  connection.write(messages);
  await connection.settled(ready);
  return connection.received.slice(from);
}

const one = async () => (await client.query('select 1 as one')).rows;

describe('a connection', () => {
  test('still works after 2,000 SQL errors', async () => {
    const connection = await start();
    for (let round = 0; round < 20; round++) {
      const errors = Array.from({ length: 100 }, () => send.query('select 1 / 0'));
      expect(await ask(connection, errors.length, ...errors)).toEqual(errors.flatMap(() => ['E ERROR 22012', 'Z I']));
    }
    expect(await one()).toEqual([{ one: 1 }]);
  });

  test('accepts and returns values of 5 MB', async () => {
    const text = 'é'.repeat(2_500_000);
    expect((await client.query('select $1::text as text', [text])).rows).toEqual([{ text }]);
  });

  test('shares neither named nor unnamed prepared statements with other connections', async () => {
    const [first, second] = [await start(), await start()];
    await ask(first, 1, send.parse('a', 'select 1'), send.parse('', 'select 1'), send.sync());
    await ask(second, 1, send.parse('a', 'select 2'), send.parse('', 'select 2'), send.sync());
    const run = [send.bind('', 'a', []), send.execute(''), send.sync()];
    expect((await ask(first, 1, ...run)).filter((each) => each.startsWith('D'))).toEqual([expect.stringMatching(/1$/)]);
    expect((await ask(second, 1, ...run)).filter((each) => each.startsWith('D'))).toEqual([
      expect.stringMatching(/2$/),
    ]);
    expect(await ask(first, 1, send.bind('', '', []), send.sync())).toEqual(['E ERROR 26000', 'Z I']);
  });

  test('waits for the open transaction of a second connection, which is rolled back when the second connection closes', async () => {
    const connection = await start();
    await ask(connection, 1, send.query("begin; insert into categories (name) values ('Dogs')"));
    const counted = client.query('select count(*)::int as count from categories');
    connection.stream.destroy();
    expect((await counted).rows).toEqual([{ count: 0 }]);
  });

  test('whose transaction is idle too long is closed, and other connections are served', async () => {
    const connection = await start();
    await ask(connection, 1, send.query('begin'));
    const started = performance.now();
    expect(await one()).toEqual([{ one: 1 }]);
    expect(performance.now() - started).toBeGreaterThan(IDLE_MS / 2);
    await connection.until(() => connection.isClosed);
    expect(connection.received.at(-1)).toBe('E FATAL 25P03');
  });

  test('rejects COPY FROM STDIN', async () => {
    const connection = await start();
    const copy = 'copy categories from stdin';
    const data = [send.copyData('1\tDogs\n'), send.copyDone()];
    expect(await ask(connection, 1, send.query(copy), ...data)).toEqual([
      'G \0\0\x03\0\0\0\0\0\0',
      'E ERROR 57014',
      'Z I',
    ]);
    const extended = [send.parse('', copy), send.bind('', '', []), send.execute(''), ...data, send.sync()];
    expect((await ask(connection, 1, ...extended)).slice(-2)).toEqual(['E ERROR 57014', 'Z I']);
    expect(await one()).toEqual([{ one: 1 }]);
  });

  test('is closed if it violates the protocol or sends a CancelRequest, and other connections are served', async () => {
    const broken = await start();
    expect(await ask(broken, 2, send.query('select 1'), send.unknown())).toContain('E FATAL 08P01');
    const cancelling = open();
    cancelling.write([send.cancel()]);
    await cancelling.until(() => cancelling.isClosed);
    expect([broken.isClosed, cancelling.received]).toEqual([true, []]);
    expect(await one()).toEqual([{ one: 1 }]);
  });

  test('that leaves megabytes of responses unread delays other connections until it is closed', async () => {
    const connection = await start();
    connection.stream.pause();
    connection.write([send.query("select repeat('x', 1000) from generate_series(1, 20000)")]);
    const others = one();
    const isWaiting = await Promise.race([others.then(() => false), sleep(1_000, true)]);
    connection.stream.destroy();
    expect([isWaiting, await others]).toEqual([true, [{ one: 1 }]]);
  });
});

describe('at the deadline of a session', () => {
  const sessionFor = (ms: number) => database.sessionFor({ caller: 'a', deadline: new Deadline(ms) });
  const insert = (seconds: number) =>
    statement(`insert into categories (name) select 'Dogs' from pg_sleep(${seconds}) returning id`);
  const count = async () =>
    (await client.query<{ count: number }>('select count(*)::int as count from categories')).rows[0]?.count;
  beforeEach(async () => {
    await client.query('delete from categories');
  });

  test('a write that has not started is rejected, and never runs', async () => {
    const busy = client.query('select pg_sleep(1.5)');
    await sleep(50);
    const started = performance.now();
    await expect(sessionFor(100).write(insert(0), [])).rejects.toThrow(Ended);
    expect(performance.now() - started).toBeLessThan(1_200);
    await busy;
    await sleep(50);
    expect(await count()).toBe(0);
  });

  test('a write that has started succeeds if it ends soon; otherwise its outcome is reported as unknown', async () => {
    expect(await sessionFor(100).write(insert(0.3), [])).toHaveLength(1);
    await expect(sessionFor(100).write(insert(1.5), [])).rejects.toThrow(OutcomeUnknown);
    expect(await count()).toBe(2);
  });

  test('a transaction is rolled back, and its connection stays open', async () => {
    const { total } = database.load;
    const running = sessionFor(100).transaction(async (transaction) => {
      await transaction.write(insert(0.3), []);
      await transaction.write(insert(0), []);
    });
    await expect(running).rejects.toThrow(Ended);
    expect(await count()).toBe(0);
    expect(await database.canWrite()).toBe(true);
    expect(database.load.total).toBeGreaterThanOrEqual(total);
  });
});
