import type { Client } from 'pg';
import type { DatabaseThread } from '../../../src/database/embedded/database-thread';
import { Upkeep } from '../../../src/database/embedded/upkeep';
import { startPrepared } from '../../helper/prepared';
import { until } from '../../helper/until';

const ROWS = 3000;

let thread: DatabaseThread;
let client: Client;
let upkeep: Upkeep | undefined;
beforeAll(async () => {
  thread = await startPrepared();
  client = thread.client;
});
beforeEach(async () => {
  await client.query(`drop table if exists stock;
    create table stock (id int primary key, quantity int); create index on stock (quantity);
    insert into stock select n, 0 from generate_series(1, ${ROWS}) n`);
});
afterEach(() => upkeep?.stop());
afterAll(() => thread.close());

const select = async (sql: string) => Number((await client.query<{ is: unknown }>(`select ${sql} as is`)).rows[0]?.is);
const size = () => select("pg_total_relation_size('stock')");
const vacuumed = () => select("pg_stat_get_vacuum_count('stock'::regclass)");
/** Changes every row three times. */
const change = () => client.query('update stock set quantity = quantity + 1;'.repeat(3));
/** Writes to the write-ahead log, but to no table. */
const write = () => client.query("select pg_logical_emit_message(false, '', '')");
const start = (every = 50) => {
  upkeep = new Upkeep(async (sql) => (await client.query(sql)).rows, every);
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 1000));

test('tables do not grow with each update, since vacuum makes the space of dead rows reusable', async () => {
  start();
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
  start(250);
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) await write();
  })();
  await change();
  await pause();
  expect(await vacuumed()).toBe(0);
  await change();
  await until(async () => (await vacuumed()) === 1);
  isWriting = false;
  await writing;
});
