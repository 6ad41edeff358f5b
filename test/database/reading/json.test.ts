import { statement } from '../../../src/database/statement';
import { type Gateway, startGateway } from '../../helper/gateway';

// Rows that are selected plainly come out of the database as JSON: the difference must not show.

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
  const sql = (text: string, ...values: unknown[]) => gateway.database.query(statement(text), values);
  for (const text of TEXTS) await sql('insert into categories (name, description) values ($1, $1)', text);
  await sql("insert into categories (name) values ('plain')");
  await sql('insert into pets (id, name, category_id) values ($1, $2, 1)', LARGEST, ASCII);
  for (const moment of MOMENTS) await sql('insert into orders (ship_date) values ($1)', new Date(moment));
  await sql('insert into orders (pet_id, quantity, complete) values ($1, 2147483647, true)', LARGEST);
});
afterAll(() => gateway.close());

/** The bytes of the response once the document is cached. */
async function known(query: string): Promise<string> {
  const ask = () =>
    gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      payload: JSON.stringify({ query }),
    });
  await ask();
  return (await ask()).body.replace(/,"extensions":.*$/, '}');
}

const get = async (url: string) => (await gateway.app.inject({ url })).body;

const categories = [
  ...TEXTS.map((text, i) => ({ id: String(i + 1), name: text, description: text })),
  { id: String(TEXTS.length + 1), name: 'plain', description: null },
];

test('strings are escaped as by JSON.stringify', async () => {
  expect(await known('{ categories { nodes { id name description } } }')).toBe(
    JSON.stringify({ data: { categories: { nodes: categories } } }),
  );
});

test('a page ends where its rows do, whatever they contain', async () => {
  for (const first of ['id name', 'name id'])
    for (let size = 1; size <= categories.length; size++) {
      const ends = `{ nodes { ${first} } pageInfo { hasNextPage hasPreviousPage } }`;
      const answer = JSON.parse(
        await known(`{ start: categories(first: ${size}) ${ends} end: categories(last: ${size}) ${ends} }`),
      );
      const named = categories.map(({ id, name }) => ({ id, name }));
      const isMore = size < categories.length;
      expect(answer.data).toEqual({
        start: { nodes: named.slice(0, size), pageInfo: { hasNextPage: isMore, hasPreviousPage: false } },
        end: { nodes: named.slice(-size), pageInfo: { hasNextPage: false, hasPreviousPage: isMore } },
      });
    }
});

test.each([49, 50])('as many members are returned as are selected: %i pairs', async (pairs) => {
  const members = Array.from({ length: pairs }, (_, i) => `i${i}: id d${i}: description`).join(' ');
  const [first] = categories;
  const row = Object.fromEntries(
    Array.from({ length: pairs }, (_, i) => [
      [`i${i}`, first?.id],
      [`d${i}`, first?.description],
    ]).flat(),
  );
  expect(await known(`{ categories(first: 1) { nodes { ${members} } } }`)).toBe(
    JSON.stringify({ data: { categories: { nodes: [row] } } }),
  );
});

test('keys are in the order selected, under their aliases, with the type', async () => {
  const [first] = categories;
  expect(await known('{ category(id: 1) { b: name __typename a: id kind: __typename } }')).toBe(
    JSON.stringify({
      data: { category: { b: first?.name, __typename: 'Category', a: first?.id, kind: 'Category' } },
    }),
  );
});

test('a relation is inside its row, or null if there is none', async () => {
  expect(await known('{ orders(last: 2) { edges { node { id pet { id name status } } } } }')).toBe(
    JSON.stringify({
      data: {
        orders: {
          edges: [
            { node: { id: '3', pet: null } },
            { node: { id: '4', pet: { id: LARGEST, name: ASCII, status: 'available' } } },
          ],
        },
      },
    }),
  );
});

test('numbers, booleans, identifiers and dates are formatted as the schema says', async () => {
  const none = { petId: null, quantity: null };
  const nodes = [
    ...MOMENTS.map((shipDate, i) => ({ id: String(i + 1), ...none, shipDate, complete: false })),
    { id: '4', petId: LARGEST, quantity: 2147483647, shipDate: null, complete: true },
  ];
  expect(await known('{ orders { nodes { id petId quantity shipDate complete } } }')).toBe(
    JSON.stringify({ data: { orders: { nodes } } }),
  );
});

test('in REST, identifiers are exact integers, and absent values are left out', async () => {
  const [first] = categories;
  expect(await get('/categories')).toBe(
    `[${categories
      .map(({ id, name, description }) =>
        JSON.stringify({ id: Number(id), name, ...(description !== null && { description }) }),
      )
      .join()}]`,
  );
  expect(await get('/categories/1')).toBe(
    JSON.stringify({ id: 1, name: first?.name, description: first?.description }),
  );
  expect(await get('/store/orders/4')).toBe(`{"id":4,"petId":${LARGEST},"quantity":2147483647,"complete":true}`);
  expect(await get('/store/orders/1')).toBe(`{"id":1,"shipDate":"${MOMENTS[0]}","complete":false}`);
});
