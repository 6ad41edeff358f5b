import { connect } from 'node:net';
import fc from 'fast-check';
import { Client } from 'pg';
import type { EmbeddedServer } from '../../../src/database/embedded/embedded-server';
import { TEST_DATABASE_URL } from '../../helper/database';
import { startPrepared } from '../../helper/prepared';
import { RawConnection, send } from './raw-connection';

const SEEDS = 40;
const RUNS = 40;
const CONNECTIONS = 3;

/** Messages that are sent in one pipeline, the number of ReadyForQuery responses, and the sizes of the written chunks. */
interface Step {
  readonly messages: readonly Buffer[];
  readonly ready: number;
  readonly sizes: readonly number[];
}

const STATEMENTS: readonly (readonly [sql: string, parameters: number])[] = [
  ['select 1 as one', 0],
  ['select $1::int + 1 as next', 1],
  ['select 10 / $1::int as part', 1],
  ['select n, n::text as text from generate_series(1, 5) n', 0],
  ['insert into own (id) values ($1::int)', 1],
  ['insert into own (id) values ($1::int) returning id, id * 2 as double', 1],
  ['delete from own', 0],
  ['select count(*) as count from own', 0],
  ['update own set id = id + 100', 0],
  ['selec 1', 0],
  ['select missing from own', 0],
  ['begin', 0],
  ['commit', 0],
  ['rollback', 0],
  ['savepoint s', 0],
  ['rollback to savepoint s', 0],
  ['', 0],
  ['copy own to stdout', 0],
];

const name = fc.constantFrom('', 'a', 'b', 'c');
const portal = fc.constantFrom('', 'p');
const known = fc.constantFrom(...STATEMENTS);
const value = fc.constantFrom('0', '1', '2', '7', 'x');
const values = (count: number) => fc.array(value, { minLength: count, maxLength: count });

/** Parses a statement, binds and executes it, as drivers do. */
const prepared = fc.tuple(name, portal, known).chain(([each, to, [sql, count]]) =>
  fc.tuple(values(count), fc.constantFrom(0, 2), fc.boolean(), fc.boolean()).map(([given, rows, describes, again]) => [
    // Parse fails if a statement with this name exists.
    ...(each ? [send.close('S', each)] : []),
    send.parse(each, sql),
    ...(describes ? [send.describe('S', each)] : []),
    send.bind(to, each, given),
    ...(describes ? [send.describe('P', to)] : []),
    send.execute(to, rows),
    ...(again ? [send.execute(to, rows)] : []),
  ]),
);
const named = fc.constantFrom('a', 'b', 'c');
const namedPortal = fc.constant('p');
/**
 * Messages in any order, with named statements and portals only. On the embedded database, an unnamed statement lasts only
 * for its batch. The unnamed portal is also used by simple queries.
 */
const loose = fc.oneof(
  fc.tuple(named, known).map(([each, [sql]]) => send.parse(each, sql)),
  fc
    .tuple(namedPortal, named, fc.array(value, { maxLength: 2 }))
    .map(([to, each, given]) => send.bind(to, each, given)),
  named.map((each) => send.describe('S', each)),
  namedPortal.map((each) => send.describe('P', each)),
  named.map((each) => send.close('S', each)),
  namedPortal.map((each) => send.close('P', each)),
  namedPortal.map((each) => send.execute(each)),
  fc.constant(send.flush()),
);
const extended = fc
  .array(fc.oneof(prepared, fc.array(loose, { maxLength: 4 })), { maxLength: 3 })
  .map((parts) => ({ messages: [...parts.flat(), send.sync()], ready: 1 }));
const simple = fc
  .array(
    known.map(([sql]) => sql.replace(/\$1/g, '3')),
    { minLength: 1, maxLength: 3 },
  )
  .map((statements) => ({ messages: [send.query(statements.join('; '))], ready: 1 }));
const pipeline = fc.array(fc.oneof(extended, simple), { minLength: 1, maxLength: 4 }).map((parts) => ({
  messages: parts.flatMap(({ messages }) => messages),
  ready: parts.length,
}));
const sizes = fc.oneof(
  fc.constant([Infinity]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 }),
);
const step: fc.Arbitrary<Step> = fc.tuple(pipeline, sizes).map(([part, given]) => ({ ...part, sizes: given }));
const script = fc.array(step, { minLength: 1, maxLength: 6 });
/** How a connection ends: with Terminate, by closing its socket, or by closing its socket before the last responses. */
const ending = fc.constantFrom('terminates', 'leaves', 'breaks off');
const scripts = fc.array(fc.tuple(script, ending), { minLength: CONNECTIONS, maxLength: CONNECTIONS });

/** Opens a connection without sending its startup message. */
type Open = () => RawConnection;

async function start(open: Open): Promise<RawConnection> {
  const connection = open();
  connection.write([send.startup()]);
  await connection.settled(1);
  return connection;
}

/**
 * The table that a connection uses instead of `own`, because connections share all tables. Both names are equally long, so
 * the lengths in the messages stay right.
 */
const tableOf = (index: number) => `o_${index}`;
const withOwnTable = (message: Buffer, index: number) =>
  Buffer.from(message.toString('latin1').replaceAll('own', tableOf(index)), 'latin1');

/** Runs one script on a new connection. @returns everything that the server has sent to the connection. */
async function runScript(open: Open, index: number, steps: readonly Step[], how: string): Promise<string[]> {
  const connection = await start(open);
  for (const { messages, ready, sizes: chunks } of steps) {
    connection.write(
      messages.map((each) => withOwnTable(each, index)),
      chunks,
    );
    await connection.settled(ready);
  }
  const received = [...connection.received];
  if (how === 'breaks off') connection.write([send.query('begin'), send.parse('d', 'select 1'), send.flush()]);
  if (how === 'terminates') connection.write([send.terminate()]);
  else connection.stream.destroy();
  await connection.until(() => connection.isClosed);
  return received;
}

type Scripts = readonly (readonly [steps: readonly Step[], how: string])[];

const indices = Array.from({ length: CONNECTIONS }, (_, index) => index);
const CREATE = indices.map((index) => `create table ${tableOf(index)} (id int primary key)`).join(';');
const DROP = `drop table if exists ${indices.map(tableOf).join(', ')}`;
const DELETE = indices.map((index) => `delete from ${tableOf(index)}`).join(';');
const ROWS = indices.map((index) => `(select array_agg(id order by id) from ${tableOf(index)}) as ${tableOf(index)}`);

/** Runs all scripts at the same time. @returns the messages each connection has received, and the rows afterwards. */
async function runAll(control: Client, open: Open, all: Scripts): Promise<unknown> {
  await control.query(DELETE);
  const received = await Promise.all(all.map(([steps, how], index) => runScript(open, index, steps, how)));
  const { rows } = await control.query(`select ${ROWS.join(', ')}`);
  return { received, rows };
}

let server: EmbeddedServer;
let control: Client;
beforeAll(async () => {
  server = await startPrepared();
  control = await server.connect();
  await control.query(CREATE);
});
afterAll(async () => {
  await control.end();
  await server.close();
});

const onEmbedded: Open = () => new RawConnection(new server.Client().connection.stream);

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;
onPostgres('random messages on several connections get the same responses as from PostgreSQL', () => {
  let postgres: Client;
  const { hostname, port } = new URL(TEST_DATABASE_URL ?? 'postgresql://127.0.0.1:5432');
  const onServer: Open = () => new RawConnection(connect(Number(port || 5432), hostname).setNoDelay());
  beforeAll(async () => {
    postgres = new Client({ connectionString: TEST_DATABASE_URL });
    await postgres.connect();
    await postgres.query(`${DROP}; ${CREATE}`);
  });
  afterAll(async () => {
    await postgres.query(DROP);
    await postgres.end();
  });

  test.each(Array.from({ length: SEEDS }, (_, seed) => seed))('seed %i', async (seed) => {
    const property = fc.asyncProperty(scripts, async (all) => {
      const [here, there] = [await runAll(control, onEmbedded, all), await runAll(postgres, onServer, all)];
      expect(here).toEqual(there);
    });
    await fc.assert(property, { seed, numRuns: RUNS });
  });
});
