import type { Database, Session } from '../../src/database/database';
import { Deadline } from '../../src/database/deadline';
import { TooManyBytes } from '../../src/database/reading/bounded-rows';
import { projectionOf } from '../../src/database/reading/projection';
import { selectByIds } from '../../src/database/reading/select';
import { selectPage, selectPages } from '../../src/database/reading/select-page';
import type { Member, Selection } from '../../src/database/reading/selection';
import type { Table } from '../../src/database/reading/table';
import { statement } from '../../src/database/statement';
import type { Serialized } from '../../src/petstore/rows';
import { CATEGORIES, ORDERS, PETS } from '../../src/petstore/tables';
import { createDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

const MOST_BYTES = 200_000;
/** Escaped in JSON, each character takes six bytes. */
const NAME = '\u0001'.repeat(255);
const PARENTS = [1n, 2n, 3n, 4n, 5n];

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
  await fill(database);
});
afterAll(() => drop());

/** Rows whose texts are as long as the rules allow. */
async function fill(into: Database): Promise<void> {
  const run = (text: string, ...values: unknown[]) => into.query(statement(text), values);
  await run(
    'insert into categories (name, description) select $1, $2 from generate_series(1, 5)',
    NAME,
    '\u0001'.repeat(2000),
  );
  await run('insert into pets (name, category_id) select $1, 1 + i % 5 from generate_series(1, 500) as i', NAME);
  await run(
    'insert into orders (pet_id, quantity, ship_date) select 1, 2147483647, now() from generate_series(1, 100)',
  );
}

/** A session that notes how many bytes its statements return. */
function noting(mostBytes: number | undefined) {
  const session = database.sessionFor({ caller: 'a', deadline: new Deadline(10_000), mostBytes });
  let most = 0;
  const noted: Session = Object.assign(Object.create(session), {
    async query<Row>(...read: Parameters<Session['query']>): Promise<Row[]> {
      const rows = await session.query<Row>(...read);
      most = Math.max(most, bytesOf(rows));
      return rows;
    },
  });
  return { session: noted, most: () => most };
}

function bytesOf(rows: unknown): number {
  return Buffer.byteLength(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
}

const selection = (json: Selection['json'], ...names: string[]): Selection => ({
  fields: new Map(names.map((name) => [name, { fields: new Map() }])),
  json,
  isList: true,
});
const members = (...fields: string[]): Member[] => fields.map((field) => ({ key: field, field }));
const asJson = (...fields: string[]) =>
  selection({ ids: 'string', nulls: 'null', members: members(...fields) }, ...fields);
const page = (limit: number, order = 'ID') => ({
  filters: {},
  order,
  descending: false,
  backward: false,
  limit,
});

test.each<[string, (session: Session) => Promise<unknown>]>([
  [
    'a page as one JSON array',
    async (session) => {
      const { list, rows } = await selectPage(session, PETS, page(500), asJson('id', 'name'));
      return list?.$json ?? `[${rows.map((row) => (row as unknown as Serialized).$json)}]`;
    },
  ],
  ['a page of rows as JSON', (session) => selectPage(session, PETS, page(500, 'NAME'), asJson('id', 'name'))],
  ['a page of columns', (session) => selectPage(session, PETS, page(500), selection(undefined, 'name'))],
  ['pages of parents', (session) => selectPages(session, PETS, 'categoryId', PARENTS, page(100), asJson('id', 'name'))],
  [
    'pages of parents, as arrays that are not too large each',
    (session) => selectPages(session, PETS, 'categoryId', PARENTS, page(8), asJson('id', 'name', 'nodeId')),
  ],
  [
    'rows by id',
    (session) =>
      selectByIds(
        session,
        PETS,
        Array.from({ length: 500 }, (_, i) => BigInt(i + 1)),
      ),
  ],
])('%s: no more is sent than one row too many', async (what, read) => {
  const free = noting(undefined);
  await read(free.session);
  // A name has 255 bytes in a column, and 1,530 in JSON.
  const mostBytes = what.includes('each')
    ? 40_000
    : what.includes('column') || what.includes('by id')
      ? 50_000
      : MOST_BYTES;
  expect(free.most()).toBeGreaterThan(1.2 * mostBytes);
  const bounded = noting(mostBytes);
  await expect(read(bounded.session)).rejects.toThrow(TooManyBytes);
  expect(bounded.most()).toBeGreaterThan(0);
  // Written as JSON here, each byte of such a name takes six.
  expect(bounded.most()).toBeLessThan(6.5 * mostBytes);
  const enough = noting(2 * free.most());
  expect(await read(enough.session)).toEqual(await read(free.session));
});

test.each<[string, Table<never>, Selection | undefined]>([
  ['pets', PETS as Table<never>, undefined],
  ['pets as JSON', PETS as Table<never>, asJson('id', 'nodeId', 'name', 'status', 'categoryId')],
  ['categories', CATEGORIES as Table<never>, undefined],
  ['categories as JSON', CATEGORIES as Table<never>, asJson('id', 'nodeId', 'name', 'description')],
  ['orders as JSON', ORDERS as Table<never>, asJson('id', 'petId', 'quantity', 'shipDate', 'complete')],
])('no row of %s has more bytes than are estimated', async (_name, table, selected) => {
  const { rows } = await selectPage(database, table, page(10), selected && { ...selected, isList: false });
  const { mostBytes } = projectionOf(table, selected, table.idField);
  expect(rows).toHaveLength(table === (CATEGORIES as Table<never>) ? 5 : 10);
  for (const row of rows) expect(bytesOf(Object.values(row as object))).toBeLessThan(2 * mostBytes);
});

test('an operation whose rows are too many bytes is refused, and no list is held', async () => {
  const gateway: Gateway = await startGateway();
  await fill(gateway.database);
  const strict = await gateway.another({ MAX_RESPONSE_BYTES: '20000' });
  const query = '{ categories(first: 5) { nodes { pets(first: 100) { nodes { id name } } } } }';
  const { status, data, errors } = await strict.graphql(query);
  expect([status, data]).toEqual([400, undefined]);
  expect(errors).toEqual([
    {
      message: 'The response would be larger than 20000 bytes. Ask for shorter pages or fewer fields.',
      extensions: { code: 'OPERATION_TOO_COMPLEX', status: 400, requestId: expect.any(String) },
    },
  ]);
  await strict.close();
  await gateway.close();
});
