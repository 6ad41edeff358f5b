import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { type Gateway, startGateway } from '../../helper/gateway';

const ENTITIES = 'query Entities($of: [_Any!]!) { _entities(representations: $of) { ... on Pet { name } } }';
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

async function sdlOf(gateway: Gateway): Promise<string> {
  const { _service } = await gateway.data<{ _service: { sdl: string } }>('{ _service { sdl } }');
  return _service.sdl;
}

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('without the setting nothing of federation is in the schema', async () => {
  for (const query of ['{ _service { sdl } }', '{ _entities(representations: []) { __typename } }']) {
    const { status, errors } = await gateway.graphql(query);
    expect([status, errors[0]?.extensions?.code]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
  }
  const { body } = await gateway.app.inject({ url: '/schema.graphql' });
  expect(body).not.toMatch(/@key|@shareable|_Any|_Entity|_Service|federation/);
});

describe('as a subgraph', () => {
  let subgraph: Gateway;
  let directory: string;
  beforeAll(async () => {
    subgraph = await gateway.another({ SUBGRAPH: 'true' });
    directory = await mkdtemp(join(tmpdir(), 'petstore-subgraph-'));
  });
  afterAll(async () => {
    await subgraph.server.close();
    await rm(directory, { recursive: true });
  });

  test('it composes with one that refers to each entity, and has pages of its own', async () => {
    const typeDefs = parse(await sdlOf(subgraph));
    const { errors, schema } = composeServices([
      { name: 'petstore', typeDefs },
      { name: 'reviews', typeDefs: parse(OTHER) },
    ]);
    expect(errors).toBeUndefined();
    const pet = schema?.toGraphQLJSSchema().getType('Pet');
    expect(pet && 'getFields' in pet && Object.keys(pet.getFields())).toEqual(
      expect.arrayContaining(['id', 'name', 'category', 'orders', 'stars']),
    );
  });

  test('GET /schema.graphql is what it is composed from', async () => {
    const { body } = await subgraph.app.inject({ url: '/schema.graphql' });
    expect(body).toBe(await sdlOf(subgraph));
    expect(body).toContain('@rateLimit');
  });

  test('the rest is as without: both interfaces, and introspection', async () => {
    const { body } = await subgraph.app.inject({ url: '/openapi.json' });
    expect(body).toBe((await gateway.app.inject({ url: '/openapi.json' })).body);
    expect((await subgraph.app.inject({ url: '/pets' })).json()).toEqual([]);
    const { __type } = await subgraph.data('{ __type(name: "_Entity") { possibleTypes { name } } }');
    const names = ['Pet', 'Category', 'Order', 'InventoryItem'];
    expect(__type).toEqual({ possibleTypes: names.map((name) => ({ name })) });
  });

  test('with trusted documents only, the queries of a router are those in the manifest', async () => {
    const manifest = join(directory, 'manifest.json');
    const operations = [{ id: 'entities', name: 'Entities', type: 'query', body: ENTITIES }];
    writeFileSync(manifest, JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }));
    const trusting = await gateway.another({
      SUBGRAPH: 'true',
      TRUSTED_DOCUMENTS: manifest,
      TRUSTED_DOCUMENTS_ONLY: 'true',
    });
    const { headers } = await gateway.createKey();
    const of = [{ __typename: 'Pet', id: '7' }];
    expect((await trusting.graphql(ENTITIES, { of }, headers)).data).toEqual({ _entities: [null] });
    const { status, errors } = await trusting.graphql(ENTITIES.replace('name', 'id'), { of }, headers);
    expect([status, errors[0]?.extensions?.code]).toEqual([403, 'QUERY_NOT_IN_SAFELIST']);
    // Composition uses no quota, and needs no trust.
    expect((await trusting.graphql('{ _service { sdl } }', {}, headers)).status).toBe(200);
    await trusting.server.close();
  });
});
