import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';
import { StatementLog } from '../helper/statements';

let gateway: Gateway;
let subgraph: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  subgraph = await gateway.another({ SUBGRAPH: 'true' });
});
beforeEach(() => fillShop(gateway.database));
afterAll(async () => {
  await subgraph.close();
  await gateway.close();
});

const ENTITIES = `query Entities($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Pet { name category { name } }
    ... on Category { name }
    ... on Order { quantity }
    ... on InventoryItem { petId stock: quantity }
  }
}`;
const SDL = '{ _service { sdl } }';
const pet = (id: unknown) => ({ __typename: 'Pet', id });
const BELLO = { __typename: 'Pet', name: 'Bello', category: { name: 'Dogs' } };
const sdlUnder = (aliases: number) =>
  `{ ${Array.from({ length: aliases }, (_, i) => `s${i}: _service { sdl }`).join(' ')} }`;
const anonymous = { 'x-api-key': undefined };

describe('entities', () => {
  test('are returned in the order of their representations, with null for each entity that does not exist', async () => {
    const rows: [representation: object, entity: object | null][] = [
      [
        { __typename: 'Order', id: '1' },
        { __typename: 'Order', quantity: 2 },
      ],
      [pet('2'), BELLO],
      [pet('99'), null],
      // An id may be a number. Other fields that a router sends are ignored.
      [
        { __typename: 'Category', id: 2, weight: { grams: 1 } },
        { __typename: 'Category', name: 'Cats' },
      ],
      [
        { __typename: 'InventoryItem', petId: '1' },
        { __typename: 'InventoryItem', petId: '1', stock: 3 },
      ],
      [{ __typename: 'InventoryItem', petId: '9223372036854775807' }, null],
      [pet('2'), BELLO],
    ];
    const representations = rows.map(([representation]) => representation);
    expect(await subgraph.data(ENTITIES, { representations })).toEqual({ _entities: rows.map(([, entity]) => entity) });
    const literal = '{ _entities(representations: [{ __typename: "Pet", id: 1 }]) { ... on Pet { name } } }';
    expect(await subgraph.data(literal)).toEqual({ _entities: [{ name: 'Rex' }] });
  });

  test('of one type are read by one statement together with their relations, for up to a hundred entities', async () => {
    const log = StatementLog.of(gateway.database);
    const representations = Array.from({ length: 100 }, (_, index) => pet(String(index + 1)));
    const { _entities } = await subgraph.data<{ _entities: (object | null)[] }>(ENTITIES, { representations });
    log.stop();
    expect([_entities.filter(Boolean).length, log.ofShop.length]).toEqual([3, 1]);
  });

  test('are found by the ids of an earlier response, with the API key of the router or of its user', async () => {
    const keys = 'query A__petstore__0 { pets(first: 2) { nodes { __typename id } } }';
    const { pets } = await subgraph.data<{ pets: { nodes: object[] } }>(keys);
    const user = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 2, perDay: 2, scopes: ['READ'] });
    const asUser = (query: string) => subgraph.graphql(query, { representations: pets.nodes }, user.headers);
    const found = { _entities: [{ ...BELLO, name: 'Rex' }, BELLO] };
    expect(await subgraph.data(ENTITIES, { representations: pets.nodes })).toEqual(found);
    const { data, extensions } = await asUser(ENTITIES);
    expect(data).toEqual(found);
    // Any number of entities counts as one request. The query for the SDL uses no quota.
    expect(extensions).toMatchObject({ cost: { operation: 1, remaining: { minute: 1 } } });
    expect((await asUser(SDL)).extensions).toMatchObject({ cost: { operation: 0, remaining: { minute: 1 } } });
    const rename = 'mutation { updatePet(id: 2, input: { name: "Routed" }) { id } }';
    expect((await asUser(rename)).errors[0]?.extensions?.code).toBe('FORBIDDEN');
    await asUser(ENTITIES);
    const { status, errors } = await asUser(ENTITIES);
    expect([status, errors[0]?.extensions?.code]).toEqual([429, 'RATE_LIMITED']);
  });

  const INTEGER = 'must be an integer from 1 to 9223372036854775807';
  const TYPES = 'must be one of Pet, Category, Order, InventoryItem';
  test.each<[string, unknown, string, string]>([
    ['of a type that is not an entity', { __typename: 'Viewer', id: '1' }, '__typename', TYPES],
    ['of an interface', { __typename: 'Node', nodeId: 'UGV0OjE' }, '__typename', TYPES],
    ['without a type', { id: '1' }, '__typename', 'is required'],
    ['whose type is null', { __typename: null, id: '1' }, '__typename', 'is required'],
    ['of a type named like a property of all objects', { __typename: 'constructor', id: '1' }, '__typename', TYPES],
    ['that are not objects', 'Pet:1', '__typename', 'is required'],
    ['without a key', { __typename: 'Pet', name: 'Rex' }, 'id', 'is required'],
    ['whose key is null', { __typename: 'Order', id: null }, 'id', 'is required'],
    ['with the key of another type', { __typename: 'InventoryItem', id: '1' }, 'petId', 'is required'],
    ['with an id out of range', pet('9223372036854775808'), 'id', INTEGER],
    ['with a nodeId', pet(Buffer.from('Pet:1').toString('base64url')), 'id', INTEGER],
    ['with the id of an API key', pet('abcdefghij12'), 'id', INTEGER],
    ['with an object as an id', pet({ id: 1 }), 'id', INTEGER],
  ])('%s are errors at their indices, and all others are returned', async (_what, wrong, field, message) => {
    const representations = [wrong, pet('2'), wrong, pet('99')];
    const { status, data, errors } = await subgraph.graphql(ENTITIES, { representations });
    expect([status, data]).toEqual([200, { _entities: [null, BELLO, null, null] }]);
    expect(errors).toMatchObject(
      [0, 2].map((index) => ({
        path: ['_entities', index],
        extensions: {
          code: 'BAD_USER_INPUT',
          status: 400,
          details: [{ path: `representations.${index}.${field}`, message }],
        },
      })),
    );
  });

  test('are all rejected if a representation is null, or if there are more than a hundred representations', async () => {
    const refusal = { http: 400, code: 'BAD_USER_INPUT', status: 400 };
    expect(await refusalOf(subgraph, ENTITIES, { representations: [null] })).toMatchObject({ code: refusal.code });
    const details = [{ path: 'representations', message: 'must have at most 100 items' }];
    const representations = Array(101).fill(pet('1'));
    expect(await refusalOf(subgraph, ENTITIES, { representations })).toMatchObject({ ...refusal, details });
  });

  test('need the scope READ; the SDL needs no scope', async () => {
    const closed = await gateway.another({ SUBGRAPH: 'true', ANONYMOUS_ACCESS: 'none' });
    const { status, errors } = await closed.graphql(ENTITIES, { representations: [pet('1')] }, anonymous);
    expect([status, errors[0]?.extensions?.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(String((await closed.graphql(SDL, {}, anonymous)).data._service?.sdl)).toContain('@key');
    await closed.close();
  });

  test('have an estimated cost that grows with their number', async () => {
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
      ... on Category { pets(first: 100) { nodes { id name status category { id name } } } }
    } }`;
    const category = { __typename: 'Category', id: '1' };
    expect(await subgraph.data(query, { representations: [category] })).toMatchObject({ _entities: [{ pets: {} }] });
    const refusal = { http: 400, code: 'OPERATION_TOO_COMPLEX' };
    expect(await refusalOf(subgraph, query, { representations: Array(100).fill(category) })).toMatchObject(refusal);
  });
});

describe('the schema', () => {
  const OTHER = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
    type Query { reviews: ReviewConnection! }
    type ReviewConnection { nodes: [Review!]! pageInfo: PageInfo! }
    type Review { stars: Int! pet: Pet category: Category order: Order stock: InventoryItem }
    type Pet @key(fields: "id") { id: ID! stars: Float! }
    type Category @key(fields: "id") { id: ID! }
    type Order @key(fields: "id") { id: ID! }
    type InventoryItem @key(fields: "petId") { petId: ID! }
    type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  `;

  test('has no types or directives of federation unless SUBGRAPH is set', async () => {
    for (const query of [SDL, '{ _entities(representations: []) { __typename } }'])
      expect((await gateway.graphql(query)).errors[0]?.extensions?.code).toBe('GRAPHQL_VALIDATION_FAILED');
    const { body } = await gateway.app.inject({ url: '/schema.graphql' });
    expect(body).not.toMatch(/@key|@shareable|_Any|_Entity|_Service|federation/);
  });

  test('of a subgraph is served, and composes with a second subgraph that uses its entities and PageInfo', async () => {
    const { _service } = await subgraph.data<{ _service: { sdl: string } }>(SDL);
    const { body } = await subgraph.app.inject({ url: '/schema.graphql' });
    expect(body).toBe(_service.sdl);
    expect(body).toContain('@rateLimit');
    const { errors, schema } = composeServices([
      { name: 'petstore', typeDefs: parse(body) },
      { name: 'reviews', typeDefs: parse(OTHER) },
    ]);
    expect(errors).toBeUndefined();
    const pet = schema?.toGraphQLJSSchema().getType('Pet');
    const fields = pet && 'getFields' in pet && Object.keys(pet.getFields());
    expect(fields).toEqual(expect.arrayContaining(['id', 'name', 'category', 'orders', 'stars']));
  });

  test('of a subgraph can be introspected, and does not change the REST API', async () => {
    for (const url of ['/openapi.json', '/pets'])
      expect((await subgraph.app.inject({ url })).body).toBe((await gateway.app.inject({ url })).body);
    const { __type } = await subgraph.data('{ __type(name: "_Entity") { possibleTypes { name } } }');
    const names = ['Pet', 'Category', 'Order', 'InventoryItem'];
    expect(__type).toEqual({ possibleTypes: names.map((name) => ({ name })) });
  });
});

test('with TRUSTED_DOCUMENTS_ONLY, a router may send only the SDL query and the documents in the manifest', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'petstore-subgraph-'));
  const manifest = join(directory, 'manifest.json');
  const operations = [{ id: 'entities', name: 'Entities', type: 'query', body: ENTITIES }];
  writeFileSync(manifest, JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }));
  const settings = { SUBGRAPH: 'true', TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_ONLY: 'true' };
  const trusting = await gateway.another(settings);
  const { headers } = await gateway.createKey();
  const variables = { representations: [pet('7')] };
  expect((await trusting.graphql(ENTITIES, variables, headers)).data).toEqual({ _entities: [null] });
  const { status, errors } = await trusting.graphql(ENTITIES.replace('quantity', 'id'), variables, headers);
  expect([status, errors[0]?.extensions?.code]).toEqual([403, 'QUERY_NOT_IN_SAFELIST']);
  // Composition tools query the SDL. This query is accepted although the manifest does not contain it.
  expect((await trusting.graphql(SDL, {}, headers)).status).toBe(200);
  await trusting.close();
  await rm(directory, { recursive: true });
});

describe('the cost of the SDL', () => {
  test('is its size, so one SDL is served, and a hundred are not', async () => {
    const { extensions, data } = await subgraph.graphql(SDL);
    const characters = String(data._service?.sdl).length;
    expect(Number(extensions?.cost?.estimated)).toBeGreaterThanOrEqual(characters / 200);
    for (const query of [
      sdlUnder(100),
      `{ _service { ${'sdl '.repeat(2)} ${Array.from({ length: 99 }, (_, i) => `s${i}: sdl`).join(' ')} } }`,
    ])
      expect(await refusalOf(subgraph, query)).toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  });

  test('also counts in documents with fragments', async () => {
    const query = `query { ...all } fragment all on Query ${sdlUnder(90)}`;
    expect(await refusalOf(subgraph, query)).toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  });
});
