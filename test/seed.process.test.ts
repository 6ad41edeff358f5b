import { rmSync } from 'node:fs';
import type { Database } from '../src/database/database';
import { statement } from '../src/database/statement';
import { loadSampleData } from '../src/petstore/sample-data';
import { SampleStore } from '../src/petstore/sample-store';
import { runTypeScript } from './helper/child';
import { createDatabase, emptyDatabase } from './helper/database';
import { makeDirectory } from './helper/installation';
import { copyData } from './helper/prepared';

let database: Database;
let url: string | undefined;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, url, drop } = await createDatabase());
});
afterAll(() => drop());

const rows = <Row>(text: string) => database.query<Row>(statement(text), []);
const counts = async () => {
  const tables = ['categories', 'pets', 'orders', 'inventory'];
  const [row] = await rows<object>(
    `select ${tables.map((t) => `(select count(*)::int from ${t}) as ${t}`).join(', ')}`,
  );
  return row;
};
const everything = () => {
  const tables = ['categories', 'pets', 'orders', 'inventory'];
  return rows(
    `select ${tables.map((t) => `(select json_agg(t order by 1) from (select * from ${t}) t) as ${t}`).join(', ')}`,
  );
};

describe('sample data of 2500 pets', () => {
  const PETS = 2500;
  const progress: number[][] = [];
  let size: Awaited<ReturnType<typeof loadSampleData>>;
  beforeAll(async () => {
    await emptyDatabase(database);
    size = await loadSampleData(database, PETS, (done, total) => progress.push([done, total]));
  });

  test('has the requested size, and reports progress', async () => {
    expect(size).toEqual({ categories: 25, pets: PETS, orders: 1250, inventory: expect.any(Number) });
    expect(await counts()).toEqual(size);
    const total = size.categories + size.pets + size.orders + size.inventory;
    expect(progress.at(-1)).toEqual([total, total]);
    expect(progress.map(([done]) => done)).toEqual(
      [...new Set(progress.map(([done]) => done))].sort((a, b) => (a ?? 0) - (b ?? 0)),
    );
  });

  test('has orders that hold the units they took, and stock that is what they left', async () => {
    const held = `select o.id from orders o left join inventory i on i.pet_id = o.pet_id
      where o.reserved <> case when i.pet_id is null then 0 else o.quantity end`;
    expect(await rows(held)).toEqual([]);
    const initial = new SampleStore(PETS).stock;
    const books = await rows<{
      id: bigint;
      units: number;
    }>(`select i.pet_id as id, (i.quantity + coalesce(sum(o.reserved), 0))::int as units
      from inventory i left join orders o on o.pet_id = i.pet_id group by i.pet_id`);
    expect(books.length).toBeGreaterThan(PETS / 2);
    for (const { id, units } of books) expect(units).toBe(initial[Number(id) - 1]);
    const [taken] = await rows<{ orders: number }>('select count(*)::int as orders from orders where reserved > 0');
    expect(taken?.orders).toBeGreaterThan(PETS / 10);
  });

  test('is plausible', async () => {
    const [share] = await rows<Record<string, number>>(`select
      count(*) filter (where status = 'available')::float / ${PETS} as available,
      count(*) filter (where status = 'pending')::float / ${PETS} as pending,
      count(*) filter (where status = 'sold')::float / ${PETS} as sold,
      count(distinct name)::int as names, count(distinct category_id)::int as categories from pets`);
    expect(share?.available).toBeGreaterThan(0.6);
    expect(share?.pending).toBeGreaterThan(0.1);
    expect(share?.sold).toBeGreaterThan(0.1);
    expect(share?.names).toBeGreaterThan(200);
    expect(share?.categories).toBe(25);
    const unlikely = [
      'select id from categories where description is null or length(description) < 20',
      'select name from categories group by name having count(*) > 1',
      `select id from orders where complete and (ship_date is null or ship_date > '2026-11-21')`,
      `select id from orders where not complete and ship_date < '2026-11-21'`,
      'select id from orders where pet_id is null or quantity is null',
      `select id from pets where name <> trim(name) or name = ''`,
      `select pet_id from inventory join pets on pets.id = pet_id where status = 'sold' and quantity > 0`,
    ];
    for (const query of unlikely) expect(await rows(query)).toEqual([]);
    const [undated] = await rows<{ orders: number }>(
      'select count(*)::int as orders from orders where ship_date is null',
    );
    expect(undated?.orders).toBeGreaterThan(10);
  });
});

describe('sample data', () => {
  beforeEach(() => emptyDatabase(database));

  test('is the same for the same number of pets, and differs for another', async () => {
    await loadSampleData(database, 60);
    const first = await everything();
    await emptyDatabase(database);
    await loadSampleData(database, 60);
    expect(await everything()).toEqual(first);
    await emptyDatabase(database);
    await loadSampleData(database, 61);
    expect(await everything()).not.toEqual(first);
  });

  test.each([1, 2, 3, 10])('of %i pets is a complete store too', async (pets) => {
    expect(await loadSampleData(database, pets)).toMatchObject({
      pets,
      categories: expect.any(Number),
      orders: Math.floor(pets / 2),
    });
    expect(await rows('select id from orders where reserved not in (0, quantity)')).toEqual([]);
  });

  test('has more categories and orders for more pets, up to 50 categories', () => {
    const sizes = [1000, 10_000, 100_000].map((pets) => new SampleStore(pets));
    expect(sizes.map(({ categories, orderCount }) => [categories.length, orderCount])).toEqual([
      [16, 500],
      [50, 5000],
      [50, 50_000],
    ]);
  });

  test('leaves the next ids free', async () => {
    await loadSampleData(database, 10);
    const { prisma } = database;
    expect(await prisma.category.create({ data: { name: 'Dogs' } })).toMatchObject({ id: 3n });
    expect(await prisma.pet.create({ data: { name: 'Rex', categoryId: 3 } })).toMatchObject({ id: 11n });
    expect(await prisma.order.create({ data: {} })).toMatchObject({ id: 6n });
  });

  test('loads into an emptied database, whose ids continue', async () => {
    await loadSampleData(database, 20);
    await rows('delete from orders');
    await rows('delete from pets');
    await rows('delete from categories');
    await loadSampleData(database, 20);
    const [first] = await rows(
      `select min(pets.id) as pet, min(categories.id) as category from pets join categories on true`,
    );
    expect(first).toEqual({ pet: 21n, category: 3n });
  });

  test.each([
    ['a category', `insert into categories (name) values ('Dogs')`],
    ['an order', 'insert into orders default values'],
  ])('is refused by a database that has %s, which is left unchanged', async (_what, insert) => {
    await rows(insert);
    const before = await everything();
    await expect(loadSampleData(database, 10)).rejects.toThrow(
      /^the database is not empty; sample data can only be loaded into an empty one\.$/,
    );
    expect(await everything()).toEqual(before);
  });
});

describe('npm run seed', () => {
  let directory: string;
  beforeAll(async () => {
    await emptyDatabase(database);
    directory = makeDirectory();
    copyData(directory);
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  const seed = (...args: string[]) =>
    runTypeScript('src/app/seed.ts', args, url ? { DATABASE_URL: url } : { DATA_DIR: directory }).end();

  test('fills the configured database, says so and exits', async () => {
    const { code, lines, stderr } = await seed('--pets', '40');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines).toEqual([
      expect.stringMatching(
        /^Added to .*PostgreSQL .* in \d+\.\d s: pets 40, categories 3, orders 20, stock entries \d+\.$/,
      ),
    ]);
  });

  test('prints its usage', async () => {
    const { code, lines, stderr } = await seed('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines.join('\n')).toContain('--pets N');
  });

  test.each([
    [['--pets', '0'], 'seed: --pets must be an integer from 1 to 1000000, not "0"\n'],
    [['--pets', '1e3'], 'seed: --pets must be an integer from 1 to 1000000, not "1e3"\n'],
    [['--cats', '3'], expect.stringMatching(/^seed: .*--cats.*\n$/)],
  ])('refuses %j in one line', async (args, stderr) => {
    expect(await seed(...args)).toEqual({ code: 1, lines: [], stderr });
  });

  test('refuses an invalid configuration in one line', async () => {
    const { code, stderr } = await runTypeScript('src/app/seed.ts', [], { DATABASE_URL: 'mysql://x' }).end();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'seed: DATABASE_URL must be a URL that starts with postgresql://\n',
    });
  });
});
