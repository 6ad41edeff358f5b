import { statement } from '../../src/database/statement';
import { SAMPLES } from '../../src/petstore/samples';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { runTypeScript } from '../helper/process';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({});
  url = await gateway.listen();
});
afterAll(() => gateway.close());

const rows = <Row>(text: string) => gateway.database.serviceSession().query<Row>(statement(text), []);
const counts = async () => {
  const count = (table: string) => `(select count(*)::int from ${table}) as ${table}`;
  const [row] = await rows<Record<string, number>>(
    `select ${['categories', 'pets', 'orders', 'inventory'].map(count)}`,
  );
  return row;
};

async function seed(args: string[], environment: Record<string, string> = {}) {
  const settings = { PETSTORE_URL: url, PETSTORE_API_KEY: ADMIN_KEY, ...environment };
  const { code, stdout, stderr } = await runTypeScript('src/app/seed.ts', args, settings).ended;
  return { code, stdout, stderr };
}

describe('npm run seed, while the gateway runs', () => {
  test('adds a realistic store to the existing data', async () => {
    await rows(`insert into categories (name) values ('Mine')`);
    expect(await seed(['--pets', '40'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Added in \d+\.\d s: pets 40, categories 3, orders 20, stock entries \d+\.\n$/),
      stderr: '',
    });
    const first = await counts();
    expect(first).toEqual({ categories: 4, pets: 40, orders: 20, inventory: expect.any(Number) });
    expect(await seed(['--pets', '10'])).toMatchObject({ code: 0 });
    expect(await counts()).toMatchObject({ categories: 6, pets: 50, orders: 25 });
  });

  test.each<[why: string, args: string[], environment: Record<string, string>, line: RegExp]>([
    ['a key that cannot write', ['--key', 'ps_wrong'], {}, /^Not an API key: .* Pass an admin key with --key or .*\n$/],
    ['no gateway', ['--url', 'http://127.0.0.1:1'], {}, /^No gateway responds at http:\/\/127\.0\.0\.1:1: .*\n$/],
    ['no pets', ['--pets', '0'], {}, /^seed: --pets must be an integer from 1 to 100000, not "0"\n$/],
    ['too many pets', ['--pets', '100001'], {}, /^seed: --pets must be an integer from 1 to 100000, not "100001"\n$/],
    ['a number in another form', ['--pets', '1e3'], {}, /^seed: --pets must be an integer .*, not "1e3"\n$/],
    ['a missing number', ['--pets'], {}, /^seed: .*--pets.*\n$/],
    ['an unknown option', ['--cats', '3'], {}, /^seed: .*--cats.*\n$/],
    ['an argument', ['many'], {}, /^seed: .*many.*\n$/],
  ])('fails with one line for %s, and adds nothing', async (_why, args, environment, line) => {
    const before = await counts();
    expect(await seed(args, environment)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(line) });
    expect(await counts()).toEqual(before);
  });

  test('prints its usage', async () => {
    expect(await seed(['--help'])).toEqual({ code: 0, stdout: expect.stringContaining('--pets N'), stderr: '' });
  });
});

describe('sample data', () => {
  const PETS = 400;
  /** Runs `SAMPLES.load` on the gateway. */
  async function load(pets: number) {
    const progress: number[][] = [];
    const size = await SAMPLES.load(
      (query, variables) => gateway.data(query, variables),
      pets,
      (done, total) => progress.push([done, total]),
    );
    return { size, progress };
  }

  test('reports its progress, and has realistic shares and consistent rows', async () => {
    const [{ last = 0n } = {}] = await rows<{ last: bigint }>('select max(id) as last from pets');
    const { size, progress } = await load(PETS);
    expect(size).toEqual({ pets: PETS, categories: 10, orders: 200, 'stock entries': expect.any(Number) });
    const done = progress.map(([each = 0]) => each);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(progress.at(-1)?.[0]).toBe(progress.at(-1)?.[1]);
    const [share] = await rows<Record<string, number>>(`select
      (count(*) filter (where status = 'available'))::float / ${PETS} as available,
      (count(*) filter (where status = 'pending'))::float / ${PETS} as pending,
      (count(*) filter (where status = 'sold'))::float / ${PETS} as sold,
      count(distinct name)::int as names from pets where id > ${last}`);
    expect(share?.available).toBeGreaterThan(0.55);
    expect(share?.pending).toBeGreaterThan(0.1);
    expect(share?.sold).toBeGreaterThan(0.1);
    expect(share?.names).toBeGreaterThan(100);
    expect(size['stock entries']).toBeGreaterThan(PETS / 2);
    expect(
      await rows(`select orders.id from orders where pet_id > ${last}
        and (quantity is null or complete and (ship_date is null or ship_date > '2026-11-21')
          or not complete and ship_date < '2026-11-21')`),
    ).toEqual([]);
  });

  test('is the same for the same number of pets, and different for a different number', async () => {
    const pets = async (count: number) => {
      await load(count);
      const found = await rows<{ name: string; status: string }>(
        `select name, status from pets order by id desc limit ${count}`,
      );
      return JSON.stringify(found);
    };
    const first = await pets(30);
    expect(await pets(30)).toEqual(first);
    expect((await pets(31)).slice(0, 200)).not.toEqual(first.slice(0, 200));
  });
});
