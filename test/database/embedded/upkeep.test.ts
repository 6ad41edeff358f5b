import type { PGlite } from '@electric-sql/pglite';
import { Upkeep } from '../../../src/database/embedded/upkeep';
import { startMigrated } from '../../helper/prepared';
import { until } from '../../helper/until';

const ROWS = 3000;

describe('the tables of the embedded database', () => {
  let engine: PGlite;
  let upkeep: Upkeep | undefined;
  beforeAll(async () => {
    engine = await startMigrated();
  });
  beforeEach(async () => {
    await engine.exec('drop table if exists stock');
    await engine.exec('create table stock (id int primary key, quantity int); create index on stock (quantity)');
    await engine.exec(`insert into stock select n, 0 from generate_series(1, ${ROWS}) n`);
  });
  afterEach(() => upkeep?.stop());
  afterAll(() => engine.close());

  const ask = async (sql: string) => (await engine.query<{ is: unknown }>(`select ${sql} as is`)).rows[0]?.is;
  const size = async () => Number(await ask("pg_total_relation_size('stock')"));
  const vacuumed = async () => Number(await ask("pg_stat_get_vacuum_count('stock'::regclass)"));
  const change = async (times: number) => {
    for (let i = 0; i < times; i++) await engine.exec('update stock set quantity = quantity + 1');
  };
  const vacuumedAfter = async (times: number) => {
    const before = await vacuumed();
    await change(times);
    if (upkeep) upkeep.isDue = true;
    await until(async () => (await vacuumed()) > before);
  };

  test('do not grow with what is changed: the room of dead rows is used again', async () => {
    upkeep = new Upkeep(engine, () => true, 50);
    await vacuumedAfter(3);
    const first = await size();
    for (let round = 0; round < 4; round++) await vacuumedAfter(3);
    expect(await size()).toBeLessThan(1.5 * first);
    expect(Number(await ask("(select reltuples from pg_class where relname = 'stock')"))).toBe(ROWS);
  });

  test('are vacuumed while nothing is written, or else only when they have more dead rows than others', async () => {
    const isRead = new Upkeep(engine, () => true, 50);
    upkeep = isRead;
    const writing = setInterval(() => {
      isRead.isDue = true;
    }, 10);
    await change(3);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await vacuumed()).toBe(0);
    await change(3);
    await until(async () => (await vacuumed()) === 1);
    clearInterval(writing);
  });

  test('are left as they are where there is no room', async () => {
    upkeep = new Upkeep(engine, () => false, 50);
    await change(6);
    upkeep.isDue = true;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await vacuumed()).toBe(0);
  });
});
