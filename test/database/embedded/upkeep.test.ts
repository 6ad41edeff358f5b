import type { PGlite } from '@electric-sql/pglite';
import { Upkeep } from '../../../src/database/embedded/upkeep';
import { startMigrated } from '../../helper/prepared';
import { until } from '../../helper/until';

const ROWS = 3000;

let engine: PGlite;
let upkeep: Upkeep | undefined;
beforeAll(async () => {
  engine = await startMigrated();
});
beforeEach(async () => {
  await engine.exec(`drop table if exists stock;
    create table stock (id int primary key, quantity int); create index on stock (quantity);
    insert into stock select n, 0 from generate_series(1, ${ROWS}) n`);
});
afterEach(() => upkeep?.stop());
afterAll(() => engine.close());

const select = async (sql: string) => Number((await engine.query<{ is: unknown }>(`select ${sql} as is`)).rows[0]?.is);
const size = () => select("pg_total_relation_size('stock')");
const vacuumed = () => select("pg_stat_get_vacuum_count('stock'::regclass)");
/** Changes every row three times. */
const change = () => engine.exec('update stock set quantity = quantity + 1;'.repeat(3));
const start = (hasRoom = true) => {
  upkeep = new Upkeep(engine, () => hasRoom, 50);
  return upkeep;
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 500));

test('tables do not grow with changes: the space of dead rows is used again', async () => {
  const current = start();
  const sizes: number[] = [];
  for (let round = 0; round < 5; round++) {
    const before = await vacuumed();
    await change();
    current.isDue = true;
    await until(async () => (await vacuumed()) > before);
    sizes.push(await size());
  }
  expect(sizes.at(-1)).toBeLessThan(1.5 * (sizes[0] ?? 0));
  expect(await select("(select reltuples from pg_class where relname = 'stock')")).toBe(ROWS);
});

test('tables are vacuumed while nothing is written, otherwise only if they have more dead rows than others', async () => {
  const current = start();
  const writing = setInterval(() => {
    current.isDue = true;
  }, 10);
  await change();
  await pause();
  expect(await vacuumed()).toBe(0);
  await change();
  await until(async () => (await vacuumed()) === 1);
  clearInterval(writing);
});

test('tables are not vacuumed on a full disk', async () => {
  const current = start(false);
  await change();
  current.isDue = true;
  await pause();
  expect(await vacuumed()).toBe(0);
});
