import { statement } from '../../src/database/statement';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { largestResult } from '../helper/largest-result';
import { refusalOf } from '../helper/refusal';
import { StatementLog } from '../helper/statements';

const LARGEST = '9223372036854775807';
const nodeIdOf = (type: string, id: string | number) => Buffer.from(`${type}:${id}`).toString('base64url');

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const NODES = `query ($ids: [ID!]!) {
  nodes(ids: $ids) { __typename nodeId ... on Pet { name } ... on Category { name } ... on Order { quantity } ... on InventoryItem { stock: quantity } }
}`;

test('every object has a unique nodeId, with which node and nodes find it', async () => {
  const { pet, category, order } = await gateway.data(
    '{ pet(id: 1) { nodeId inventory { nodeId } } category(id: 1) { nodeId } order(id: 1) { nodeId } }',
  );
  const ids = [pet?.nodeId, category?.nodeId, order?.nodeId, pet?.inventory?.nodeId];
  expect(new Set(ids).size).toBe(4);
  const found = [
    { __typename: 'Pet', nodeId: ids[0], name: 'Rex' },
    { __typename: 'Category', nodeId: ids[1], name: 'Dogs' },
    { __typename: 'Order', nodeId: ids[2], quantity: 2 },
    { __typename: 'InventoryItem', nodeId: ids[3], stock: 3 },
  ];
  expect(await gateway.data(NODES, { ids })).toEqual({ nodes: found });
  const NODE = NODES.replace('$ids: [ID!]!', '$id: ID!').replace('nodes(ids: $ids)', 'node(id: $id)');
  for (const node of found) expect(await gateway.data(NODE, { id: node.nodeId })).toEqual({ node });
});

test('an object has the same nodeId in a list, in an edge, as a relation and after a change', async () => {
  await gateway.database
    .serviceSession()
    .query(statement('insert into pets (id, name, category_id) values ($1::bigint, $2::text, 1)'), [
      LARGEST,
      'Largest',
    ]);
  const all = ['1', '2', '3', LARGEST].map((id) => ({ nodeId: nodeIdOf('Pet', id) }));
  expect(await gateway.data('{ pets { nodes { nodeId } } }')).toEqual({ pets: { nodes: all } });
  expect(await gateway.data('{ pets { edges { node { nodeId } } } }')).toEqual({
    pets: { edges: all.map((node) => ({ node })) },
  });
  const change = 'nodeId category { nodeId } inventory { nodeId }';
  expect(await gateway.data(`mutation { updatePet(id: 1, input: { name: "Max" }) { ${change} } }`)).toEqual({
    updatePet: {
      ...all[0],
      category: { nodeId: nodeIdOf('Category', 1) },
      inventory: { nodeId: nodeIdOf('InventoryItem', 1) },
    },
  });
  expect(await gateway.data('mutation { cancelOrder(id: 1) { nodeId pet { nodeId } } }')).toEqual({
    cancelOrder: { nodeId: nodeIdOf('Order', 1), pet: all[0] },
  });
});

test('REST has no nodeId', async () => {
  const { body } = await gateway.app.inject({ url: '/pets?id=1' });
  expect(JSON.parse(body)).toEqual([{ id: 1, name: 'Rex', status: 'available', categoryId: 1 }]);
});

test('nodes returns objects in the order of the ids, and null for unknown ids, with one statement for each type', async () => {
  const log = StatementLog.of(gateway.database);
  const ids = [
    nodeIdOf('Pet', 2),
    nodeIdOf('Category', 2),
    nodeIdOf('Pet', 99),
    nodeIdOf('Pet', 1),
    nodeIdOf('InventoryItem', 2),
    nodeIdOf('Pet', 2),
    nodeIdOf('Order', LARGEST),
  ];
  const { nodes } = await gateway.data<{ nodes: ({ name: string } | null)[] }>(NODES, { ids });
  log.stop();
  expect(nodes.map((node) => node?.name ?? null)).toEqual(['Bello', 'Cats', null, 'Rex', null, 'Bello', null]);
  expect(log.ofShop).toHaveLength(4);
  expect(await gateway.data('query ($id: ID!) { node(id: $id) { nodeId } }', { id: ids[2] })).toEqual({ node: null });
});

test('nodes of two types and their relations are read with three statements', async () => {
  const log = StatementLog.of(gateway.database);
  const query = `query ($ids: [ID!]!) {
    nodes(ids: $ids) { ... on Pet { name category { name } orders { nodes { quantity } } } ... on Order { pet { name } } }
  }`;
  const ids = [nodeIdOf('Pet', 1), nodeIdOf('Order', 1), nodeIdOf('Pet', 2)];
  expect(await gateway.data(query, { ids })).toEqual({
    nodes: [
      { name: 'Rex', category: { name: 'Dogs' }, orders: { nodes: [{ quantity: 2 }] } },
      { pet: { name: 'Rex' } },
      { name: 'Bello', category: { name: 'Dogs' }, orders: { nodes: [] } },
    ],
  });
  log.stop();
  expect(log.ofShop).toHaveLength(3);
});

test('the database stops sending nodes once they exceed the limit on the response size', async () => {
  const strict = await gateway.another({ MAX_RESPONSE_BYTES: '20000' });
  const add = statement('insert into pets (name, category_id) select $1, 1 from generate_series(1, 100)');
  await gateway.database.serviceSession().query(add, ['🐕'.repeat(255)]);
  const ids = Array.from({ length: 99 }, (_, i) => nodeIdOf('Pet', i + 4));
  const refuse = async () => {
    const { status, data, errors } = await strict.graphql(NODES, { ids });
    expect([status, data, errors[0]?.extensions?.code]).toEqual([400, undefined, 'OPERATION_TOO_COMPLEX']);
    expect(errors[0]?.message).toBe(
      'The response would be larger than 20000 bytes. Ask for shorter pages or fewer fields.',
    );
  };
  expect(await largestResult(gateway.database, () => gateway.data(NODES, { ids }))).toBeGreaterThan(90_000);
  expect(await largestResult(gateway.database, refuse)).toBeLessThan(80_000);
  await strict.close();
});

describe('an id is rejected if it', () => {
  const rejected = { code: 'BAD_USER_INPUT', status: 400 };

  test.each<[string, unknown]>([
    ['is a string that is not a nodeId', 'nonsense'],
    ['is the nodeId of another type', nodeIdOf('ApiKey', 1)],
    ['is a number', 7],
    ['is the id of an API key', 'abcdefghij12'],
    ['has base64 padding', `${nodeIdOf('Pet', 1)}=`],
    ['contains an id beyond int64', nodeIdOf('Pet', '9223372036854775808')],
    ['contains an id with a leading zero', nodeIdOf('Pet', '01')],
  ])('%s', async (_what, wrong) => {
    const ids = [wrong, nodeIdOf('Pet', 1), wrong];
    expect(await refusalOf(gateway, NODES, { ids })).toMatchObject({ ...rejected, paths: ['ids.0', 'ids.2'] });
    const literal = `{ node(id: ${JSON.stringify(wrong)}) { nodeId } }`;
    expect(await refusalOf(gateway, literal)).toMatchObject({ ...rejected, paths: ['id'] });
  });

  test('is one of more than a hundred ids', async () => {
    const ids = Array.from({ length: 101 }, () => nodeIdOf('Pet', 1));
    expect(await refusalOf(gateway, NODES, { ids })).toMatchObject({ ...rejected, paths: ['ids'] });
    expect((await gateway.data<{ nodes: object[] }>(NODES, { ids: ids.slice(1) })).nodes).toHaveLength(100);
  });

  test.each([
    'pet(id: $id) { id }',
    'pets(filter: { ids: [$id] }) { totalCount }',
    'inventoryItem(petId: $id) { petId }',
  ])('is a nodeId where an integer is expected: %s', async (field) => {
    const query = `query ($id: ID!) { ${field} }`;
    expect(await refusalOf(gateway, query, { id: nodeIdOf('Pet', 1) })).toMatchObject(rejected);
  });
});

test('node and nodes each count as one request, for any number of objects', async () => {
  const { headers } = await gateway.createKey();
  const id = nodeIdOf('Pet', 1);
  const query = `{ node(id: "${id}") { nodeId } nodes(ids: ["${id}", "${id}"]) { nodeId } }`;
  expect((await gateway.graphql(query, {}, headers)).extensions).toMatchObject({ cost: { operation: 2 } });
});

test('introspection lists the types that implement Node', async () => {
  const { __type } = await gateway.data('{ __type(name: "Node") { kind possibleTypes { name } } }');
  const names = ['Pet', 'Category', 'Order', 'InventoryItem'];
  expect(__type).toEqual({
    kind: 'INTERFACE',
    possibleTypes: expect.arrayContaining(names.map((name) => ({ name }))),
  });
});
