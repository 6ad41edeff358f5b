import { type GraphQLSchema, isObjectType, Kind, parse } from 'graphql';
import * as schemas from '../../src/graphql/schema';
import { emptyDatabase } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';

const { buildSchema } = schemas;

/** Marks a field that is not a root field. In the real schema, only root fields and an input field are marked. */
function markStatus(schema: GraphQLSchema): GraphQLSchema {
  const item = schema.getType('InventoryItem');
  const [marked] = parse('type T { f: Int @stability(level: EXPERIMENTAL) }').definitions;
  if (!isObjectType(item) || marked?.kind !== Kind.OBJECT_TYPE_DEFINITION)
    throw new Error('the schema has no type InventoryItem');
  Object.assign(item.getFields().status ?? {}, { astNode: marked.fields?.[0] });
  return schema;
}

let gateway: Gateway;
beforeAll(async () => {
  jest
    .spyOn(schemas as { buildSchema: unknown }, 'buildSchema', 'get')
    .mockReturnValue((parts: schemas.SchemaParts) => markStatus(buildSchema(parts)));
  gateway = await startGateway({});
  await emptyDatabase(gateway.database);
  await gateway.data(`mutation {
    createCategory(input: { name: "Dogs" }) { id }
    createPet(input: { name: "Rex", categoryId: 1 }) { id }
    setInventory(petId: 1, input: { quantity: 3 }) { petId }
  }`);
});
afterAll(() => gateway.close());

const stabilityOf = async (query: string, variables?: object, headers?: Record<string, string | undefined>) => {
  const response = await gateway.graphql(query, variables, headers);
  return response.headers['x-stability'];
};

test.each<[query: string, variables: object | undefined, level: string | undefined]>([
  ['{ pets { nodes { id inventory { quantity } } } }', undefined, undefined],
  ['mutation { removeInventory(petId: 7) { petId } }', undefined, 'beta'],
  ['mutation { removeInventory(petId: 7) { petId status } }', undefined, 'experimental'],
  ['mutation { ...F } fragment F on Mutation { a: removeInventory(petId: 7) { petId } }', undefined, 'beta'],
  ['{ pets { nodes { inventory { s: status } } } }', undefined, 'experimental'],
  [
    'query ($no: Boolean!) { inventoryItem(petId: 1) { petId status @include(if: $no) } }',
    { no: true },
    'experimental',
  ],
  ['query ($no: Boolean!) { inventoryItem(petId: 1) { petId status @include(if: $no) } }', { no: false }, undefined],
])('X-Stability is the lowest stability of the selected fields: %s with %j', async (query, variables, level) => {
  expect(await stabilityOf(query, variables)).toBe(level);
  // The second time, the document is cached.
  expect(await stabilityOf(query, variables)).toBe(level);
});

test('X-Stability is sent with rejected operations, over GET and with event streams', async () => {
  const anonymous = { 'x-api-key': undefined };
  expect(await stabilityOf('mutation { removeInventory(petId: 7) { petId } }', undefined, anonymous)).toBe('beta');
  const query = '{ inventoryItem(petId: 1) { status } }';
  const got = await gateway.app.inject({ url: `/graphql?query=${encodeURIComponent(query)}` });
  const streamed = await gateway.app.inject({
    method: 'POST',
    url: '/graphql/stream',
    headers: { accept: 'text/event-stream' },
    payload: { query },
  });
  expect([got.headers['x-stability'], streamed.headers['x-stability']]).toEqual(['experimental', 'experimental']);
});

test('uses of deprecated and unstable elements are counted by element and interface', async () => {
  const count = async (element: string, marker: string, face: string) => {
    const { body } = await gateway.app.inject({ url: '/metrics', headers: { 'x-api-key': ADMIN_KEY } });
    const sample = `petstore_marked_uses_total{element="${element}",marker="${marker}",interface="${face}"} `;
    return Number(
      body
        .split('\n')
        .find((line) => line.startsWith(sample))
        ?.slice(sample.length) ?? 0,
    );
  };
  const counted = [
    ['Mutation.removeInventory', 'beta', 'graphql'],
    ['Mutation.removeInventory', 'beta', 'rest'],
    ['GET /pets/{petId}', 'deprecated', 'rest'],
    ['InventoryItem.status', 'experimental', 'graphql'],
  ] as const;
  const all = () => Promise.all(counted.map((each) => count(each[0], each[1], each[2])));
  const before = await all();
  await gateway.graphql('mutation { removeInventory(petId: 1) { petId } }');
  await gateway.app.inject({ method: 'DELETE', url: '/store/inventory/1' });
  await gateway.app.inject({ url: '/pets/1' });
  // A request with a wrong key is rejected, so it does not count as a use.
  await gateway.app.inject({ url: '/pets/1', headers: { 'x-api-key': 'wrong' } });
  await gateway.graphql('{ a: inventoryItem(petId: 1) { status } b: inventoryItem(petId: 1) { status } }');
  expect((await all()).map((times, i) => times - (before[i] ?? 0))).toEqual([1, 1, 1, 1]);
});
