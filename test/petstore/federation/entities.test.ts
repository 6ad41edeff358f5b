import { fillShop } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { refusalOf } from '../../helper/refusal';
import { StatementLog } from '../../helper/statements';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ SUBGRAPH: 'true' });
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const ENTITIES = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Pet { name category { name } }
    ... on Category { name }
    ... on Order { quantity }
    ... on InventoryItem { petId stock: quantity }
  }
}`;
const pet = (id: unknown) => ({ __typename: 'Pet', id });

test('entities are in the order of their representations, with null for those that do not exist', async () => {
  const representations = [
    { __typename: 'Order', id: '1' },
    pet('2'),
    pet('99'),
    // Numbers are ids too, and what else a router sends along is ignored.
    { __typename: 'Category', id: 2, weight: { grams: 1 } },
    { __typename: 'InventoryItem', petId: '1' },
    { __typename: 'InventoryItem', petId: '9223372036854775807' },
    pet('2'),
  ];
  const bello = { __typename: 'Pet', name: 'Bello', category: { name: 'Dogs' } };
  expect(await gateway.data(ENTITIES, { representations })).toEqual({
    _entities: [
      { __typename: 'Order', quantity: 2 },
      bello,
      null,
      { __typename: 'Category', name: 'Cats' },
      { __typename: 'InventoryItem', petId: '1', stock: 3 },
      null,
      bello,
    ],
  });
});

test('representations may stand in the document', async () => {
  const query = '{ _entities(representations: [{ __typename: "Pet", id: 1 }]) { ... on Pet { name } } }';
  expect(await gateway.data(query)).toEqual({ _entities: [{ name: 'Rex' }] });
});

test('a hundred of a type are read by one statement, with what is selected of their relations', async () => {
  const log = StatementLog.of(gateway.database);
  const representations = Array.from({ length: 100 }, (_, index) => pet(String(index + 1)));
  const { _entities } = await gateway.data<{ _entities: (object | null)[] }>(ENTITIES, { representations });
  log.stop();
  expect(_entities.filter(Boolean)).toHaveLength(3);
  expect(log.ofShop).toHaveLength(1);
});

test("as a router asks: keys from one answer lead to entities in the next, by its own key or by the user's", async () => {
  const keys =
    'query Starred__petstore__0 { pets(first: 2) { nodes { __typename id name } pageInfo { hasNextPage } } }';
  const stars = `query Reviewed__petstore__1($representations: [_Any!]!) {
    _entities(representations: $representations) { ... on Pet { __typename name category { __typename id name } } }
  }`;
  const { pets } = await gateway.data<{ pets: { nodes: object[] } }>(keys);
  expect(pets).toEqual({
    nodes: [
      { __typename: 'Pet', id: '1', name: 'Rex' },
      { __typename: 'Pet', id: '2', name: 'Bello' },
    ],
    pageInfo: { hasNextPage: true },
  });
  const category = { __typename: 'Category', id: '1', name: 'Dogs' };
  const found = ['Rex', 'Bello'].map((name) => ({ __typename: 'Pet', name, category }));
  const user = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 2, perDay: 2, scopes: ['READ'] });
  const asTheUser = (query: string) => gateway.graphql(query, { representations: pets.nodes }, user.headers);
  expect(await gateway.data(stars, { representations: pets.nodes })).toEqual({ _entities: found });
  expect((await asTheUser(stars)).data).toEqual({ _entities: found });
  const rename = 'mutation Renamed__petstore__0 { updatePet(id: 2, input: { name: "Routed" }) { __typename id name } }';
  expect((await asTheUser(rename)).errors[0]?.extensions?.code).toBe('FORBIDDEN');
  expect(await gateway.data(rename)).toEqual({ updatePet: { __typename: 'Pet', id: '2', name: 'Routed' } });
  await asTheUser(stars);
  expect((await asTheUser(stars)).errors[0]?.extensions?.code).toBe('RATE_LIMITED');
});

describe('refused is', () => {
  const INTEGER = 'must be an integer from 1 to 9223372036854775807';
  const TYPES = 'must be one of Pet, Category, Order, InventoryItem';
  test.each<[string, unknown, string, string]>([
    ['a type that is no entity', { __typename: 'Viewer', id: '1' }, '__typename', TYPES],
    ['an interface', { __typename: 'Node', nodeId: 'UGV0OjE' }, '__typename', TYPES],
    ['no type', { id: '1' }, '__typename', TYPES],
    ['a property of all objects', { __typename: 'constructor', id: '1' }, '__typename', TYPES],
    ['no object', 'Pet:1', '__typename', TYPES],
    ['no key', { __typename: 'Pet', name: 'Rex' }, 'id', INTEGER],
    ['the key of another type', { __typename: 'InventoryItem', id: '1' }, 'petId', INTEGER],
    ['an id out of range', pet('9223372036854775808'), 'id', INTEGER],
    ['a nodeId', pet(Buffer.from('Pet:1').toString('base64url')), 'id', INTEGER],
    ['the id of an API key', pet('abcdefghij12'), 'id', INTEGER],
    ['an object as an id', pet({ id: 1 }), 'id', INTEGER],
  ])('%s', async (_what, wrong, field, message) => {
    const { errors } = await gateway.graphql(ENTITIES, { representations: [pet('1'), wrong] });
    const details = [{ path: `representations.1.${field}`, message }];
    expect(errors).toEqual([
      expect.objectContaining({ extensions: expect.objectContaining({ status: 400, details }) }),
    ]);
    expect(errors[0]?.extensions?.code).toBe('BAD_USER_INPUT');
  });

  test('each of several that are wrong, by its place', async () => {
    const representations = [pet('0'), pet('1'), { __typename: 'Shelf' }];
    const { code, paths } = await refusalOf(gateway, ENTITIES, { representations });
    expect([code, paths]).toEqual(['BAD_USER_INPUT', ['representations.0.id', 'representations.2.__typename']]);
  });

  test('null', async () => {
    const refusal = await refusalOf(gateway, ENTITIES, { representations: [null] });
    expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('more than a hundred: the whole operation, with 400', async () => {
    const representations = Array.from({ length: 101 }, () => pet('1'));
    const { status, data, errors } = await gateway.graphql(ENTITIES, { representations });
    expect([status, data, errors[0]?.extensions]).toEqual([
      400,
      undefined,
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        status: 400,
        details: [{ path: 'representations', message: 'must have at most 100 items' }],
      }),
    ]);
  });
});

describe('access and limits hold as for all other fields:', () => {
  test('entities count as one request, however many they are; the SDL as none', async () => {
    const { headers } = await gateway.createKey();
    const representations = [pet('1'), pet('2'), pet('3')];
    const { extensions } = await gateway.graphql(ENTITIES, { representations }, headers);
    expect(extensions).toMatchObject({ cost: { operation: 1, remaining: { minute: 59 } } });
    const service = await gateway.graphql('{ _service { sdl } }', {}, headers);
    expect(service.extensions).toMatchObject({ cost: { operation: 0, remaining: { minute: 59 } } });
  });

  test('over the limit nothing is read', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
    const variables = { representations: [pet('1')] };
    await gateway.graphql(ENTITIES, variables, headers);
    const { status, errors } = await gateway.graphql(ENTITIES, variables, headers);
    expect([status, errors[0]?.extensions?.code]).toEqual([429, 'RATE_LIMITED']);
  });

  test('entities need the scope READ, the SDL none', async () => {
    const closed = await gateway.another({ SUBGRAPH: 'true', ANONYMOUS_ACCESS: 'none' });
    const anonymous = { 'x-api-key': undefined };
    const { status, errors } = await closed.graphql(ENTITIES, { representations: [pet('1')] }, anonymous);
    expect([status, errors[0]?.extensions?.code]).toEqual([401, 'UNAUTHENTICATED']);
    const { data } = await closed.graphql('{ _service { sdl } }', {}, anonymous);
    expect(String(data._service?.sdl)).toContain('@key');
    await closed.close();
  });

  test('the estimated cost follows the number of representations', async () => {
    const query = `query ($representations: [_Any!]!) {
      _entities(representations: $representations) { ... on Category { pets(first: 100) { nodes { id name status category { id name } } } } }
    }`;
    const category = { __typename: 'Category', id: '1' };
    expect(await gateway.data(query, { representations: [category] })).toMatchObject({ _entities: [{ pets: {} }] });
    const { status, errors } = await gateway.graphql(query, { representations: Array(100).fill(category) });
    expect([status, errors[0]?.extensions?.code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  });
});
