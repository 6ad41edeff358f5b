import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { loadSampleData, sampleSize } from '../../src/petstore/samples';
import { createDatabase, emptyDatabase, everyRow, TEST_DATABASE_URL } from '../helper/database';
import { Installation } from '../helper/installation';
import { runTypeScript } from '../helper/process';

let database: Database;
let url: string | undefined;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, url, drop } = await createDatabase());
});
afterAll(() => drop());

const TABLES = ['categories', 'pets', 'orders', 'inventory'];
const rows = <Row>(text: string) => database.query<Row>(statement(text), []);
const row = async (expressions: string) => (await rows<Record<string, number>>(`select ${expressions}`))[0] ?? {};

describe('sample data of 2500 pets', () => {
  const PETS = 2500;
  const progress: number[][] = [];
  let size: Awaited<ReturnType<typeof loadSampleData>>;
  beforeAll(async () => {
    await emptyDatabase(database);
    size = await loadSampleData(database, PETS, (done, total) => progress.push([done, total]));
  });

  test('has the requested size, and the progress of loading is reported', async () => {
    expect(size).toEqual({ categories: 25, pets: PETS, orders: 1250, inventory: expect.any(Number) });
    expect(await row(TABLES.map((t) => `(select count(*)::int from ${t}) as ${t}`).join(', '))).toEqual(size);
    const total = size.pets + size.orders;
    expect(progress.at(-1)).toEqual([total, total]);
    const done = progress.map(([each = 0]) => each);
    expect(done).toEqual([...new Set(done)].sort((a, b) => a - b));
  });

  test('has realistic shares of each status, and many different names', async () => {
    const shares = ['available', 'pending', 'sold'].map(
      (status) => `(select count(*)::float / ${PETS} from pets where status = '${status}') as ${status}`,
    );
    const share = await row(`${shares.join(', ')}, (select count(distinct name)::int from pets) as names,
      (select count(*)::int from orders where ship_date is null) as undated,
      (select count(*)::int from orders where reserved > 0) as reserving`);
    expect(share.available).toBeGreaterThan(0.6);
    for (const status of ['pending', 'sold']) expect(share[status]).toBeGreaterThan(0.1);
    expect(share.names).toBeGreaterThan(200);
    expect(share.undated).toBeGreaterThan(10);
    expect(share.reserving).toBeGreaterThan(PETS / 10);
    expect(size.inventory).toBeGreaterThan(PETS / 2);
  });

  test.each([
    'select o.id from orders o left join inventory i on i.pet_id = o.pet_id where o.reserved <> case when i.pet_id is null then 0 else o.quantity end',
    'select id from categories where description is null or length(description) < 20',
    'select name from categories group by name having count(*) > 1',
    `select id from orders where complete and (ship_date is null or ship_date > '2026-11-21')`,
    `select id from orders where not complete and ship_date < '2026-11-21'`,
    'select id from orders where pet_id is null or quantity is null',
    `select id from pets where name <> trim(name) or name = ''`,
    `select pet_id from inventory join pets on pets.id = pet_id where status = 'sold' and quantity > 0`,
  ])('has no inconsistent row: %s', async (query) => {
    expect(await rows(query)).toEqual([]);
  });
});

describe('sample data', () => {
  beforeEach(() => emptyDatabase(database));

  test('is the same for the same number of pets, and different for a different number', async () => {
    const load = async (pets: number) => {
      await emptyDatabase(database);
      await loadSampleData(database, pets);
      return everyRow(database);
    };
    const first = await load(60);
    expect(await load(60)).toEqual(first);
    expect(await load(61)).not.toEqual(first);
  });

  test.each([1, 2, 3, 10])('of only %i pets can be loaded, and has correct reservations', async (pets) => {
    expect(await loadSampleData(database, pets)).toMatchObject({ pets, orders: Math.floor(pets / 2) });
    expect(await rows('select id from orders where reserved not in (0, quantity)')).toEqual([]);
  });

  test('with more pets, has more orders and up to 50 categories', () => {
    const sizes = [1000, 10_000, 100_000].map(sampleSize);
    expect(sizes.map(({ categories, orders }) => [categories, orders])).toEqual([
      [16, 500],
      [50, 5000],
      [50, 50_000],
    ]);
  });

  test('advances the id sequences, and does not reuse ids in an emptied database', async () => {
    await loadSampleData(database, 10);
    const { prisma } = database;
    expect(await prisma.category.create({ data: { name: 'Dogs' } })).toMatchObject({ id: 3n });
    expect(await prisma.pet.create({ data: { name: 'Rex', categoryId: 3 } })).toMatchObject({ id: 11n });
    expect(await prisma.order.create({ data: {} })).toMatchObject({ id: 6n });
    for (const table of ['orders', 'inventory', 'pets', 'categories']) await rows(`delete from ${table}`);
    await loadSampleData(database, 10);
    const first = '(select min(id) from pets) as pet, (select min(id) from categories) as category';
    expect(await row(first)).toEqual({ pet: 12n, category: 4n });
  });

  test.each([
    ['a category', `insert into categories (name) values ('Dogs')`],
    ['an order', 'insert into orders default values'],
  ])('is not loaded into a database that has %s, and the database does not change', async (_what, insert) => {
    await rows(insert);
    const before = await everyRow(database);
    await expect(loadSampleData(database, 10)).rejects.toThrow(
      /^the database is not empty; sample data can only be loaded into an empty database\.$/,
    );
    expect(await everyRow(database)).toEqual(before);
  });
});

describe('npm run seed', () => {
  const installation = new Installation({});
  beforeAll(() => emptyDatabase(database));
  afterAll(() => installation.remove());

  async function seed(args: string[], environment: Record<string, string> = { DATA_DIR: installation.data }) {
    const { code, stdout, stderr } = await runTypeScript('src/app/seed.ts', args, environment).ended;
    return { code, stdout, stderr };
  }

  const places: [string, () => Record<string, string>][] = [
    ['a data directory', () => ({ DATA_DIR: installation.data })],
  ];
  if (TEST_DATABASE_URL) places.push(['a database of a server', () => ({ DATABASE_URL: url ?? '' })]);
  test.each(places)('fills %s, and rejects a second run', async (_where, environment) => {
    expect(await seed(['--pets', '40'], environment())).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^Added to .*PostgreSQL .* in \d+\.\d s: pets 40, categories 3, orders 20, stock entries \d+\.\n$/,
      ),
      stderr: '',
    });
    const stderr = 'seed: the database is not empty; sample data can only be loaded into an empty database.\n';
    expect(await seed([], environment())).toEqual({ code: 1, stdout: '', stderr });
  });

  test('prints its usage', async () => {
    expect(await seed(['--help'])).toEqual({ code: 0, stdout: expect.stringContaining('--pets N'), stderr: '' });
  });

  test.each<[args: string[], environment: Record<string, string>, line: RegExp]>([
    [['--pets', '0'], {}, /^seed: --pets must be an integer from 1 to 1000000, not "0"\n$/],
    [['--pets', '1000001'], {}, /^seed: --pets must be an integer from 1 to 1000000, not "1000001"\n$/],
    [['--pets', '1e3'], {}, /^seed: --pets must be an integer from 1 to 1000000, not "1e3"\n$/],
    [['--pets'], {}, /^seed: .*--pets.*\n$/],
    [['--cats', '3'], {}, /^seed: .*--cats.*\n$/],
    [['many'], {}, /^seed: .*many.*\n$/],
    [[], { DATABASE_URL: 'mysql://x' }, /^seed: DATABASE_URL must be a URL that starts with postgresql:\/\/\n$/],
  ])('rejects the arguments %j and the environment %j with a one-line error', async (args, environment, line) => {
    const stderr = expect.stringMatching(line);
    expect(await seed(args, { DATA_DIR: installation.data, ...environment })).toEqual({ code: 1, stdout: '', stderr });
  });
});
