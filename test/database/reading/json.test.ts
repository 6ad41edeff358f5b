import { statement } from '../../../src/database/statement';
import { type Gateway, startGateway } from '../../helper/gateway';

// For simple selections, PostgreSQL writes the JSON. It must be the same text that JSON.stringify would write.

const ASCII = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).join('');
const TEXTS = [
  ASCII,
  '\u0080\u009f\u00a0\u2028\u2029\ufeff\uffff',
  '🐕‍🦺 "Rex" \\ \\u0041 \' {} $1 %s',
  'null',
  '{"id":1}',
  'x},{',
  'x"},{"id":"1","name":"y"},{"name":"',
  "%%s%1$s''",
];
const MOMENTS = ['0001-01-01T00:00:00.000Z', '1850-06-01T12:00:00.001Z', '9999-12-31T23:59:59.999Z'];
const LARGEST = '9223372036854775807';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  const sql = (text: string, ...values: unknown[]) => gateway.database.serviceSession().query(statement(text), values);
  for (const text of TEXTS) await sql('insert into categories (name, description) values ($1, $1)', text);
  await sql("insert into categories (name) values ('plain')");
  await sql('insert into pets (id, name, category_id) values ($1, $2, 1)', LARGEST, ASCII);
  for (const moment of MOMENTS) await sql('insert into orders (ship_date) values ($1)', new Date(moment));
  await sql('insert into orders (pet_id, quantity, complete) values ($1, 2147483647, true)', LARGEST);
});
afterAll(() => gateway.close());

const categories = [
  ...TEXTS.map((text, i) => ({ id: String(i + 1), name: text, description: text })),
  { id: String(TEXTS.length + 1), name: 'plain', description: null },
];
const orders = [
  ...MOMENTS.map((shipDate, i) => ({ id: String(i + 1), petId: null, quantity: null, shipDate, complete: false })),
  { id: '4', petId: LARGEST, quantity: 2147483647, shipDate: null, complete: true },
];

/** The data in the response as text. Expects the same text when the query is new and when its document is cached. */
async function dataOf(query: string): Promise<string> {
  const payload = { query };
  const ask = async () => (await gateway.app.inject({ method: 'POST', url: '/graphql', payload })).body;
  const [first, again] = [await ask(), await ask()].map((body) => body.replace(/,"extensions":.*$/, ''));
  expect(again).toBe(first);
  return first?.replace('{"data":', '') ?? '';
}

const [ugly] = categories;
const pairs = (count: number) => Array.from({ length: count }, (_, i) => i);

test.each<[string, string, unknown]>([
  ['texts are escaped', '{ categories { nodes { id name description } } }', { categories: { nodes: categories } }],
  [
    'numbers, booleans, identifiers and dates have the formats of the schema',
    '{ orders { nodes { id petId quantity shipDate complete } } }',
    { orders: { nodes: orders } },
  ],
  [
    'keys have the order of the selection, with aliases and __typename',
    '{ category(id: 1) { b: name __typename a: id kind: __typename } }',
    { category: { b: ugly?.name, __typename: 'Category', a: ugly?.id, kind: 'Category' } },
  ],
  [
    'a related row is nested in the row that refers to it; without a related row, the field is null',
    '{ orders(last: 2) { edges { node { id pet { id name status } } } } }',
    {
      orders: {
        edges: [
          { node: { id: '3', pet: null } },
          { node: { id: '4', pet: { id: LARGEST, name: ASCII, status: 'available' } } },
        ],
      },
    },
  ],
  // A PostgreSQL function takes at most 100 arguments, which are 50 pairs of a key and a value.
  ...[49, 50].map((count): [string, string, unknown] => [
    `${count} pairs of a key and a value are returned in the order of the selection`,
    `{ categories(first: 1) { nodes { ${pairs(count)
      .map((i) => `i${i}: id d${i}: description`)
      .join(' ')} } } }`,
    {
      categories: {
        nodes: [Object.assign({}, ...pairs(count).map((i) => ({ [`i${i}`]: ugly?.id, [`d${i}`]: ugly?.description })))],
      },
    },
  ]),
])('%s', async (_what, query, data) => {
  expect(await dataOf(query)).toBe(JSON.stringify(data));
});

test('pages of every size have the right rows and page information, even if texts look like JSON', async () => {
  const named = categories.map(({ id, name }) => ({ id, name }));
  for (const first of ['id name', 'name id'])
    for (let size = 1; size <= categories.length; size++) {
      const ends = `{ nodes { ${first} } pageInfo { hasNextPage hasPreviousPage } }`;
      const query = `{ start: categories(first: ${size}) ${ends} end: categories(last: ${size}) ${ends} }`;
      const isMore = size < categories.length;
      expect(JSON.parse(await dataOf(query))).toEqual({
        start: { nodes: named.slice(0, size), pageInfo: { hasNextPage: isMore, hasPreviousPage: false } },
        end: { nodes: named.slice(-size), pageInfo: { hasNextPage: false, hasPreviousPage: isMore } },
      });
    }
});

test.each([
  ['/store/orders/4', `{"id":4,"petId":${LARGEST},"quantity":2147483647,"complete":true}`],
  ['/store/orders/1', `{"id":1,"shipDate":"${MOMENTS[0]}","complete":false}`],
  ['/categories/1', JSON.stringify({ ...ugly, id: 1 })],
  [
    '/categories',
    JSON.stringify(
      categories.map((row) => ({ ...row, id: Number(row.id), description: row.description ?? undefined })),
    ),
  ],
])('REST responses have exact integers as identifiers, and omit null values: %s', async (url, text) => {
  expect((await gateway.app.inject({ url })).body).toBe(text);
});
