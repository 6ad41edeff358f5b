import type { Client } from 'pg';
import type { EmbeddedServer } from '../../../src/database/embedded/embedded-server';
import { Upkeep } from '../../../src/database/embedded/upkeep';
import { startPrepared } from '../../helper/prepared';
import { until } from '../../helper/until';

const ROWS = 3000;

let server: EmbeddedServer;
let client: Client;
let upkeep: Upkeep | undefined;
beforeAll(async () => {
  server = await startPrepared();
  client = await server.connect();
});
beforeEach(async () => {
  await client.query(`drop table if exists stock;
    create table stock (id int primary key, quantity int); create index on stock (quantity);
    insert into stock select n, 0 from generate_series(1, ${ROWS}) n`);
});
afterEach(() => upkeep?.stop());
afterAll(async () => {
  await client.end();
  await server.close();
});

const select = async (sql: string) => Number((await client.query<{ is: unknown }>(`select ${sql} as is`)).rows[0]?.is);
const size = () => select("pg_total_relation_size('stock')");
const vacuumed = () => select("pg_stat_get_vacuum_count('stock'::regclass)");
/** Changes every row three times. */
const change = () => client.query('update stock set quantity = quantity + 1;'.repeat(3));
/** Writes to the write-ahead log, but to no table. */
const write = (by: Client) => by.query("select pg_logical_emit_message(false, '', '')");
const start = async (every = 50) => {
  upkeep = new Upkeep(await server.connect(), every);
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 1000));

test('tables do not grow with each update, since vacuum makes the space of dead rows reusable', async () => {
  await start();
  const sizes: number[] = [];
  for (let round = 0; round < 5; round++) {
    const before = await vacuumed();
    await change();
    await until(async () => (await vacuumed()) > before);
    sizes.push(await size());
  }
  expect(sizes.at(-1)).toBeLessThan(1.5 * (sizes[0] ?? 0));
  expect(await select("(select reltuples from pg_class where relname = 'stock')")).toBe(ROWS);
});

test('during writes, a vacuum waits until dead rows outnumber live rows by more than 10,000', async () => {
  await start(250);
  const writer = await server.connect();
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) await write(writer);
  })();
  await change();
  await pause();
  expect(await vacuumed()).toBe(0);
  await change();
  await until(async () => (await vacuumed()) === 1);
  isWriting = false;
  await writing;
  await writer.end();
});

test('tables are not vacuumed on a full disk', async () => {
  await client.query('set default_transaction_read_only to on'); // The worker sets this when the disk is full.
  await start();
  await client.query('begin read write; update stock set quantity = 1; update stock set quantity = 2; commit');
  await pause();
  expect(await vacuumed()).toBe(0);
  await client.query('set default_transaction_read_only to off');
  await write(client);
  await until(async () => (await vacuumed()) === 1);
});
