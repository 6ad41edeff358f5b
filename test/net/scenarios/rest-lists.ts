import type { Net, Scenario } from '../scenario';

const FILTERS: Readonly<Record<string, readonly string[]>> = {
  '/pets': [
    ...['', '?limit=100', '?id=2', '?id=12&id=3&id=3&id=99', '?id=9223372036854775807'],
    ...['?status=sold', '?status=available&status=pending&status=sold', '?categoryId=1', '?categoryId=3&categoryId=1'],
    ...[
      '?categoryId=99',
      '?name=',
      '?name=t',
      '?name=T',
      '?name=ti',
      '?name=tig',
      '?name=IGG',
      '?name=ex',
      '?name=rex',
    ],
    ...['?name=%C3%A4', '?name=%C3%84r', '?name=%C3%A4RN', '?name=%C3%B6', '?name=a', '?name=%F0%9F%90%95'],
    ...['?name=%F0%9F%90%95+%F0%9F%90%A6', '?name=%25', '?name=0%25+', '?name=_', '?name=a_b', '?name=a_', '?name=___'],
    ...[
      '?name=%25%25%25',
      '?name=%5C',
      '?name=%5C%5C%5C',
      '?name=ck%5Csl',
      '?name=%27',
      '?name=o%27n',
      '?name=+',
      '?name=+wo',
    ],
    ...['?name=rex+', '?name=nobody', '?status=available&categoryId=1&name=re', '?id=1&id=2&id=3&status=sold'],
    ...['?name=tig&categoryId=2&status=available&status=sold&id=6&id=7', '?id=1&categoryId=2'],
  ],
  '/categories': ['', '?id=2&id=1', '?id=99', '?name=d', '?name=OG', '?name=ogs', '?name=BIRD', '?name=cats&id=1'],
  '/store/orders': [
    ...['', '?id=3&id=1&id=99', '?petId=1', '?petId=1&petId=6', '?petId=99', '?complete=true', '?complete=false'],
    ...['?petId=6&complete=false', '?petId=1&id=5&complete=false'],
  ],
  '/store/inventory': [
    ...['', '?petId=3&petId=2', '?petId=9', '?status=sold&status=pending', '?maxQuantity=0', '?maxQuantity=3'],
    ...['?maxQuantity=2147483647', '?maxQuantity=-1', '?maxQuantity=5&status=available', '?petId=1&maxQuantity=2'],
  ],
};

const SORTS: Readonly<Record<string, readonly string[]>> = {
  '/pets': ['id', '-id', 'name', '-name'],
  '/categories': ['id', '-id', 'name', '-name'],
  '/store/orders': ['id', '-id', 'shipDate', '-shipDate'],
  '/store/inventory': ['petId', '-petId', 'quantity', '-quantity'],
};

/** Lists that are followed through their pages. */
const PAGED = [
  '/pets?limit=1&id=3&id=1&id=12',
  '/pets?limit=2&status=available&sort=-name',
  '/pets?categoryId=2&limit=1&categoryId=3&sort=name',
  '/pets?limit=1&sort=name&name=t',
  '/pets?limit=2&sort=-id&name=tig',
  '/pets?limit=1&name=rex&status=available&status=sold&categoryId=1',
  '/pets?name=%26+%3D+%23%C3%A9&limit=1',
  '/categories?limit=1&name=o',
  '/store/orders?limit=2&petId=1&petId=7',
  '/store/orders?limit=1&complete=false&sort=-shipDate',
  '/store/inventory?limit=1&maxQuantity=5&sort=-quantity',
  '/store/inventory?limit=2&status=available&status=sold&sort=quantity',
];

const REFUSED = [
  ...['limit=0', 'limit=101', 'limit=-1', 'limit=', 'limit', 'limit=abc', 'limit=1.5', 'limit=1e1', 'limit=010'],
  ...['limit=%2B5', 'limit=2147483648', 'limit=+5', 'limit=1&limit=2', 'sort=', 'sort=age', 'sort=NAME', 'sort=--id'],
  ...[
    'sort=%2Bid',
    'sort=id&sort=name',
    'sort=id,name',
    'id=',
    'id',
    'id=0',
    'id=1,2',
    'id=01',
    'id=1&id=9223372036854775808',
  ],
  ...[
    'status=',
    'status=gone',
    'status=SOLD',
    'status=sold&status=',
    'status=sold,pending',
    'categoryId=',
    'categoryId=x',
  ],
  ...[
    'name=a&name=b',
    'name=%00',
    `name=${'x'.repeat(256)}`,
    'colour=red',
    'Limit=1',
    'status[]=sold',
    '=1',
    '&&=',
    '__proto__=1',
    'page=2',
  ],
];

const OTHERS_REFUSED = [
  'GET /pets?limit=0',
  'GET /pets?constructor=1&toString=2',
  'GET /pets?first=1&after=x&filter=y&orderBy=z',
  'GET /pets?limit=0&status=gone&sort=x&colour=red&id=0&name=%00',
  'GET /categories?status=sold',
  'GET /categories?sort=status',
  'GET /store/orders?sort=name',
  'GET /store/orders?complete=',
  'GET /store/orders?complete=1',
  'GET /store/orders?complete=TRUE',
  'GET /store/orders?complete=true&complete=false',
  'GET /store/orders?petId=1&petId=0',
  'GET /store/orders?status=placed',
  'GET /store/inventory?sort=id',
  'GET /store/inventory?id=1',
  'GET /store/inventory?petId=1.5',
  'GET /store/inventory?status=x',
  'GET /store/inventory?maxQuantity=few',
  'GET /store/inventory?maxQuantity=',
  'GET /store/inventory?maxQuantity=2147483648',
  'GET /store/inventory?maxQuantity=1&maxQuantity=2',
  'GET /pets/1?limit=1',
  'GET /store/inventory/1?x',
  'GET /rate_limit?x=1',
  'DELETE /pets/12?x=1',
];

async function idsOf(net: Net, path: string, query: string): Promise<string> {
  const { json } = await net.exchange('GET', path + query);
  return `${query}: ${json.map((row: { id?: number; petId: number }) => row.id ?? row.petId).join(' ') || 'none'}`;
}

/** The cursor of the second page. */
async function cursorOf(net: Net, path: string): Promise<string> {
  const { headers } = await net.exchange('GET', path);
  const cursor = /[?&]cursor=([^&>]+)/.exec(String(headers.link))?.[1];
  if (!cursor) throw new Error(`${path} has one page`);
  return cursor;
}

export const scenarios: Scenario[] = [
  {
    name: 'rest lists',
    run: async (net) => {
      await net.shop();
      const names = ['100% wool', 'a_b', 'aXb', 'back\\slash', "O'Neil", '🐕 🐦', '& = #é', '& = #É'];
      const pets = names.map(
        (name, i) => `p${i}: createPet(input: { name: ${JSON.stringify(name)}, categoryId: 3 }) { id }`,
      );
      await net.prepare(`mutation { ${pets.join(' ')} }`);
      await net.rest('GET /pets?status=sold&limit=2&name=&status=pending&sort=-name');
      await net.rest('GET /categories?limit=2&sort=name');
      await net.rest('GET /store/orders?limit=2&sort=-shipDate');
      await net.rest('GET /store/inventory?limit=2&sort=quantity&maxQuantity=5');
      await net.rest('GET /pets?name=nobody');
      await net.rest('GET /pets?limit=20', { title: 'exactly all pets' });
      for (const [path, queries] of Object.entries(FILTERS)) {
        const lines: string[] = [];
        for (const query of queries) lines.push(await idsOf(net, path, query));
        net.note(`${path} by filters`, lines.join('\n'));
      }
      for (const [path, sorts] of Object.entries(SORTS))
        for (const sort of sorts)
          await net.walkRest(`${path}?sort=${sort}&limit=2`, path.endsWith('inventory') ? 'petId' : 'id');
      for (const path of PAGED) await net.walkRest(path, path.includes('inventory') ? 'petId' : 'id');
    },
  },
  {
    name: 'rest long lists',
    run: async (net) => {
      const names = Array.from(
        { length: 45 },
        (_, i) => `c${i}: createCategory(input: { name: "Kind ${i % 7}" }) { id }`,
      );
      await net.prepare(`mutation { ${names.join(' ')} }`);
      await net.walkRest('/categories');
      await net.walkRest('/categories?sort=-name&limit=11');
      await net.walkRest('/categories?limit=100&name=kind+3');
      await net.walkRest(`/categories?${Array.from({ length: 60 }, (_, i) => `id=${i + 1}`).join('&')}&limit=40`);
    },
  },
  {
    name: 'rest parameters',
    run: async (net) => {
      await net.shop();
      await net.table(
        'parameters with one fault',
        REFUSED.map((query) => [`GET /pets?${query}`]),
      );
      for (const line of OTHERS_REFUSED) await net.rest(line);
      await net.rest('POST /pets?x=1', { body: { name: 'Mia', categoryId: 1 } });
      await net.rest('PUT /pets/1?status=sold', { body: { name: 'Mia', categoryId: 1 } });
      await net.rest('PATCH /pets/1?x=1', { body: {} });
      await net.rest('GET /pets?cursor=', { title: 'an empty cursor' });
      await net.rest('GET /pets?cursor', { title: 'a cursor without a value' });
      for (const cursor of ['abc', '%00', '0', '-', 'a'.repeat(1000), '%F0%9F%90%95'])
        await net.rest(`GET /pets?cursor=${cursor}`, { title: `the cursor ${cursor.slice(0, 20)}` });
      await net.rest('GET /pets?cursor=abc&cursor=abc', { title: 'two cursors' });
      for (const from of [
        '/categories?limit=1',
        '/store/orders?limit=1',
        '/pets?limit=1&sort=name',
        '/pets?limit=1&sort=-id',
      ])
        await net.rest(`GET /pets?cursor=${await cursorOf(net, from)}`, { title: `a cursor of ${from}` });
      const own = await cursorOf(net, '/pets?limit=4');
      await net.rest(`GET /pets?status=sold&limit=100&cursor=${own}`, {
        title: 'a cursor of the same list with another filter',
      });
      await net.rest(`GET /pets?sort=id&limit=2&cursor=${own}`, { title: 'a cursor of the same order' });
      await net.prepare('mutation { deletePet(id: 4) { id } }');
      await net.rest(`GET /pets?limit=2&cursor=${own}`, { title: 'the cursor of a pet that has been deleted' });
    },
  },
];
