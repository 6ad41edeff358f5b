import { statement } from '../../src/database/statement';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  await fillShop(gateway.database);
  await insert('inventory (pet_id, quantity) values (3, 0)');
  await insert(
    "orders (pet_id, complete, ship_date) values (2, true, '2026-12-01T00:00:00Z'), (null, false, '2026-11-01T00:00:00Z')",
  );
});
afterAll(() => gateway.close());

function insert(rows: string): Promise<unknown[]> {
  return gateway.database.query(statement(`insert into ${rows}`), []);
}

/** The ids of a list, in order. */
async function idsOf(path: string): Promise<number[]> {
  const { status, json } = await send(gateway, `GET ${path}`);
  expect(status).toBe(200);
  return (json as { id?: number; petId: number }[]).map(({ id, petId }) => id ?? petId);
}

function nextOf(link: string | undefined): string | undefined {
  return link && /^<([^>]*)>; rel="next"$/.exec(link)?.[1];
}

describe('filters', () => {
  test.each<[string, number[]]>([
    ['/pets', [1, 2, 3]],
    ['/pets?id=2', [2]],
    ['/pets?id=3&id=1&id=7', [1, 3]],
    ['/pets?id=9223372036854775807', []],
    ['/pets?status=sold', [3]],
    ['/pets?status=available&status=pending', [1, 2]],
    ['/pets?categoryId=1', [1, 2]],
    ['/pets?categoryId=1&categoryId=2&status=sold', [3]],
    ['/pets?name=E', []],
    ['/pets?name=%25', []],
    ['/pets?name=Bel+lo', []],
    ['/categories', [1, 2]],
    ['/categories?id=2', [2]],
    ['/categories?name=og', []],
    ['/categories?name=OGS', [1]],
    ['/store/orders', [1, 2, 3]],
    ['/store/orders?petId=1', [1]],
    ['/store/orders?petId=1&petId=2', [1, 2]],
    ['/store/orders?id=3&id=1&id=9', [1, 3]],
    ['/store/orders?complete=true', [2]],
    ['/store/orders?complete=false', [1, 3]],
    ['/store/orders?petId=2&complete=false', []],
    ['/store/inventory', [1, 3]],
    ['/store/inventory?petId=3&petId=2', [3]],
    ['/store/inventory?maxQuantity=0', [3]],
    ['/store/inventory?status=available&maxQuantity=5', [1]],
  ])('%s', async (path, ids) => {
    expect(await idsOf(path)).toEqual(ids);
  });
});

describe('orders', () => {
  test.each<[string, number[]]>([
    ['/pets?sort=-id', [3, 2, 1]],
    ['/pets?sort=name', [2, 1, 3]],
    ['/pets?sort=-name', [3, 1, 2]],
    ['/categories?sort=name', [2, 1]],
    ['/store/orders?sort=shipDate', [3, 2, 1]],
    ['/store/orders?sort=-shipDate', [1, 2, 3]],
    ['/store/inventory?sort=quantity', [3, 1]],
    ['/store/inventory?sort=-petId', [3, 1]],
  ])('%s', async (path, ids) => {
    expect(await idsOf(path)).toEqual(ids);
  });
});

describe('pages', () => {
  test.each<[string, number[]]>([
    ['/pets?limit=1&sort=-name', [3, 1, 2]],
    ['/pets?status=available&limit=1&status=sold', [1, 3]],
    ['/pets?name=%26%3D+%23%C3%A9&limit=1', []],
    ['/categories?limit=1', [1, 2]],
    ['/store/orders?limit=2&sort=shipDate', [3, 2, 1]],
    ['/store/inventory?limit=1&maxQuantity=9', [1, 3]],
  ])('%s: the links lead through the whole list', async (path, ids) => {
    const seen: number[] = [];
    let next: string | undefined = path;
    for (let pages = 0; next; pages++) {
      expect(pages).toBeLessThan(5);
      const answer = await send(gateway, `GET ${next}`);
      seen.push(...(answer.json as { id?: number; petId: number }[]).map(({ id, petId }) => id ?? petId));
      next = nextOf(answer.headers.link);
    }
    expect(seen).toEqual(ids);
  });

  test('the link keeps all other parameters', async () => {
    await insert("pets (name, category_id) values ('Echo', 1), ('Emil', 1)");
    const { headers } = await send(gateway, 'GET /pets?name=e&status=available&status=pending&limit=1');
    const next = new URL(nextOf(headers.link) ?? '', 'http://localhost');
    expect(next.pathname).toBe('/pets');
    expect([...next.searchParams.keys()]).toEqual(['name', 'status', 'status', 'limit', 'cursor']);
    expect(next.searchParams.getAll('status')).toEqual(['available', 'pending']);
    expect(next.searchParams.get('name')).toBe('e');
  });

  test('the last page has no link, and an empty list is an empty array', async () => {
    const { headers, text } = await send(gateway, 'GET /pets?name=nobody');
    expect(headers.link).toBeUndefined();
    expect(text).toBe('[]');
    expect((await send(gateway, 'GET /pets?limit=3')).headers.link).toBeUndefined();
  });

  test('a page has 20 items by default, and 100 at most', async () => {
    await insert("categories (name) select 'Kind ' || i from generate_series(1, 105) i");
    expect(await idsOf('/categories')).toHaveLength(20);
    expect(await idsOf('/categories?limit=100')).toHaveLength(100);
  });

  test.each(['/pets?limit=1&sort=name', '/pets?limit=1&sort=-id', '/categories?limit=1', '/store/orders?limit=1'])(
    'a cursor of %s is refused by /pets sorted by id',
    async (path) => {
      const { headers } = await send(gateway, `GET ${path}`);
      const cursor = new URL(nextOf(headers.link) ?? '', 'http://localhost').searchParams.get('cursor') ?? '';
      for (const foreign of [cursor, cursor.slice(0, -1), `${cursor}A`, cursor.toUpperCase()]) {
        expect(await send(gateway, `GET /pets?cursor=${foreign}`)).toMatchObject({
          status: 400,
          json: { code: 'BAD_USER_INPUT', details: [{ path: 'cursor' }] },
        });
      }
    },
  );
});
