import type { Net, Scenario } from '../scenario';

const LAST_ID = '9223372036854775807';
const BEYOND = '9223372036854775808';

const NAMED = { name: 'Mia' };
const PET = { name: 'Mia', categoryId: 1 };
/** Every operation on one resource, with a valid body. */
const ON_ONE: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/pets/'],
  ['PUT', '/pets/', PET],
  ['PATCH', '/pets/', {}],
  ['DELETE', '/pets/'],
  ['GET', '/categories/'],
  ['PUT', '/categories/', NAMED],
  ['PATCH', '/categories/', {}],
  ['DELETE', '/categories/'],
  ['GET', '/store/orders/'],
  ['PATCH', '/store/orders/', {}],
  ['DELETE', '/store/orders/'],
  ['GET', '/store/inventory/'],
  ['PUT', '/store/inventory/', { quantity: 1 }],
  ['DELETE', '/store/inventory/'],
];

type Step = readonly [line: string, body?: unknown, save?: Record<string, string>];

async function run(net: Net, steps: readonly Step[]): Promise<void> {
  for (const [line, body, save] of steps) await net.rest(line, { body, ...(save && { save }) });
}

const CATEGORIES: readonly Step[] = [
  ['GET /categories'],
  ['POST /categories', { id: 99, name: ' Fish\t', description: ' wet ' }, { fish: 'id' }],
  ['POST /categories', { id: 'x', name: 'Ünïcode 🐠', description: null }, { unicode: 'id' }],
  ['GET /categories/{fish}'],
  ['PATCH /categories/{fish}', {}],
  ['PATCH /categories/{fish}', { description: null }],
  ['PATCH /categories/{fish}', { name: 'Fishes', description: '' }],
  ['PUT /categories/{fish}', { name: 'Fish', description: 'a\tb\nc "quoted" \\ / \u2028' }],
  ['GET /categories/{fish}'],
  ['PUT /categories/{fish}', { name: 'Fish' }],
  ['PUT /categories/1', { id: 1, name: 'Dogs', description: null }],
  ['PUT /categories/1', { id: 2, name: 'Dogs' }],
  ['DELETE /categories/1'],
  ['DELETE /categories/{fish}'],
  ['DELETE /categories/{fish}'],
  ['GET /categories/{fish}'],
];

const PETS: readonly Step[] = [
  ['GET /pets'],
  ['POST /pets', { name: ' Milo ', categoryId: 2 }, { milo: 'id' }],
  ['POST /pets', { id: null, name: 'Nemo', categoryId: 2, status: null }, { nemo: 'id' }],
  ['POST /pets', { id: 1, name: '<b>"Dory"</b> \\', categoryId: 2, status: 'sold' }, { dory: 'id' }],
  ['GET /pets/{milo}'],
  ['GET /pets?id={milo}'],
  ['PATCH /pets/{milo}', {}],
  ['PATCH /pets/{milo}', { status: 'sold' }],
  ['PATCH /pets/{milo}', { status: 'pending', name: ' Milo II ' }],
  ['PATCH /pets/{milo}', { categoryId: 3 }],
  ['PUT /pets/{milo}', { name: 'Milo', categoryId: 1 }],
  ['PUT /pets/{milo}', { name: 'Milo', categoryId: 1, status: 'pending' }],
  ['PUT /pets/{milo}', { name: 'Milo', categoryId: 1, status: null }],
  ['PATCH /pets/1', { id: 1 }],
  ['PATCH /pets/1', { id: 2 }],
  ['PATCH /pets/1', { id: '1' }],
  ['PATCH /pets/1', { id: null }],
  ['PUT /pets/1', '{"id":1.0,"name":"Rex","categoryId":1}'],
  ['POST /pets', { name: 'Lost', categoryId: 99 }],
  ['PUT /pets/1', { name: 'Lost', categoryId: 99 }],
  ['PATCH /pets/1', { categoryId: 99 }],
  ['POST /pets', `{"name":"Far","categoryId":${LAST_ID}}`],
  ['POST /pets', '{"name":"Far","categoryId":9007199254740993}'],
  ['PATCH /pets/1', `{"id":1,"categoryId":${LAST_ID}}`],
  ['POST /pets', `{"name":"Far","categoryId":${BEYOND}}`],
  ['PATCH /pets/1', '{"id":9007199254740993}'],
  ['DELETE /pets/1'],
  ['DELETE /pets/3'],
  ['GET /store/inventory/3'],
  ['DELETE /pets/{milo}'],
  ['DELETE /pets/{milo}'],
  ['GET /pets/{milo}'],
  ['GET /pets?id={milo}'],
];

const PLACED: readonly Step[] = [
  ['GET /store/orders'],
  ['GET /store/inventory'],
  ['POST /store/orders', { id: 7, petId: 1, quantity: 1 }, { one: 'id' }],
  ['GET /store/inventory/1'],
  ['POST /store/orders', { petId: 1, quantity: 3 }],
  ['POST /store/orders', { petId: 1, quantity: 2 }, { two: 'id' }],
  ['POST /store/orders', { petId: 1, quantity: 1 }],
  ['POST /store/orders', { petId: 1 }, { unlimited: 'id' }],
  ['POST /store/orders', { petId: 7, quantity: 2147483647 }, { untracked: 'id' }],
  ['POST /store/orders', { petId: 4, quantity: 2147483647 }, { all: 'id' }],
  ['GET /store/inventory/4'],
  ['POST /store/orders', { petId: null, quantity: null, shipDate: null, complete: null }, { empty: 'id' }],
  ['POST /store/orders', { petId: 3, quantity: 1, complete: true }, { shipped: 'id' }],
  ['GET /store/inventory/3'],
  ['POST /store/orders', { petId: 99, quantity: 1 }],
  ['POST /store/orders', `{"petId":${LAST_ID}}`],
  ['GET /store/orders/{one}'],
  ['GET /store/orders?id={one}&id={two}'],
];

/** Changes of orders. Before the first change, pets 1 and 4 have no units in stock, and pet 3 has four. */
const CHANGED: readonly Step[] = [
  ['PATCH /store/orders/{one}', {}],
  ['PATCH /store/orders/{one}', { quantity: 2 }],
  ['PATCH /store/orders/{two}', { quantity: 1 }],
  ['PATCH /store/orders/{one}', { quantity: 2 }],
  ['GET /store/inventory/1'],
  ['PATCH /store/orders/{one}', { petId: 3 }],
  ['GET /store/inventory?petId=1&petId=3'],
  ['PATCH /store/orders/{one}', { petId: 3, quantity: 7 }],
  ['PATCH /store/orders/{one}', { petId: 2, quantity: 1 }],
  ['PATCH /store/orders/{one}', { quantity: null }],
  ['GET /store/inventory/3'],
  ['PATCH /store/orders/{one}', { quantity: 3 }],
  ['PATCH /store/orders/{one}', { petId: null }],
  ['GET /store/inventory/3'],
  ['PATCH /store/orders/{one}', { petId: 99 }],
  ['PATCH /store/orders/{all}', { petId: 8 }],
  ['GET /store/inventory/4'],
  ['PATCH /store/orders/{two}', { complete: true, shipDate: '2024-06-30T23:59:59.9994+14:00' }],
  ['PATCH /store/orders/{two}', { quantity: 2 }],
  ['PATCH /store/orders/{two}', { petId: 2 }],
  ['PATCH /store/orders/{two}', { petId: null }],
  ['PATCH /store/orders/{two}', { petId: 1, quantity: 1 }],
  ['PATCH /store/orders/{two}', { shipDate: null }],
  ['PATCH /store/orders/{two}', { quantity: 9, complete: false }],
  ['DELETE /store/orders/{shipped}'],
  ['GET /store/inventory/3'],
  ['DELETE /store/orders/{two}'],
  ['GET /store/inventory/1'],
  ['DELETE /store/orders/1'],
  ['GET /store/inventory/1'],
  ['DELETE /store/orders/1'],
  ['GET /store/orders/1'],
  ['DELETE /store/orders/{untracked}'],
];

const STOCK: readonly Step[] = [
  ['PUT /store/inventory/9', { quantity: 0 }],
  ['PUT /store/inventory/9', { petId: 9, quantity: 2147483647 }],
  ['PUT /store/inventory/9', { petId: 8, quantity: 1 }],
  ['PUT /store/inventory/9', { petId: '9', quantity: 1 }],
  ['PATCH /pets/9', { status: 'pending' }],
  ['GET /store/inventory/9'],
  ['DELETE /store/inventory/9'],
  ['GET /store/inventory/9'],
  ['DELETE /store/inventory/9'],
  ['POST /store/orders', { petId: 9, quantity: 5 }, { before: 'id' }],
  ['PUT /store/inventory/9', { quantity: 1 }],
  ['DELETE /store/orders/{before}'],
  ['GET /store/inventory/9'],
];

const BAD_IDS = [
  ...[
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x1',
    '007',
    '+1',
    'abc',
    '%20',
    '1%20',
    '%00',
    '%0A',
    '1%2F2',
    '%D9%A3',
    '9'.repeat(500),
  ],
  ...['null', 'NaN', '%2B1', '1,2', '1;2', '*', '1%0D%0AX-Evil:%201'],
];

const SHIP_DATES = [
  '2024-02-29T00:00:00Z',
  '2024-02-29t10:30:00z',
  '2024-12-31T23:30:00-01:00',
  '2024-01-01T00:00:00.1234567+05:30',
  '2024-01-01T00:00:00-00:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  `2024-01-01T00:00:00.${'1'.repeat(60)}Z`,
];

export const scenarios: Scenario[] = [
  {
    name: 'rest pets and categories',
    run: async (net) => {
      await net.shop();
      await net.spreadIds();
      await run(net, CATEGORIES);
      await run(net, PETS);
    },
  },
  {
    name: 'rest orders and stock',
    run: async (net) => {
      await net.shop();
      await net.spreadIds();
      await run(net, PLACED);
      await run(net, CHANGED);
      await run(net, STOCK);
      for (const shipDate of SHIP_DATES) {
        const { json } = await net.exchange('POST', '/store/orders', { body: { shipDate } });
        net.note(`the shipDate ${shipDate}`, json.shipDate);
      }
    },
  },
  {
    name: 'rest identifiers',
    run: async (net) => {
      await net.shop();
      for (const [method, path, body] of ON_ONE) await net.rest(`${method} ${path}${LAST_ID}`, { body });
      await net.table(
        'beyond int64',
        ON_ONE.map(([method, path, body]) => [`${method} ${path}${BEYOND}`, body]),
      );
      await net.table(
        'paths without an id',
        BAD_IDS.map((id) => [`GET /categories/${id}`]),
      );
    },
  },
];
