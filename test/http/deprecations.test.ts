import { type GraphQLSchema, isObjectType, Kind, parse } from 'graphql';
import * as schemas from '../../src/graphql/schema';
import { emptyDatabase } from '../helper/database';
import { ADMIN_KEY, type Gateway, type Json, startGateway } from '../helper/gateway';

const { buildSchema } = schemas;

function deprecateSome(schema: GraphQLSchema): GraphQLSchema {
  const [pet, item] = ['Pet', 'InventoryItem'].map((name) => schema.getType(name));
  if (!isObjectType(pet) || !isObjectType(item)) throw new Error('the schema has no type Pet or InventoryItem');
  const pets = schema.getQueryType()?.getFields().pets;
  mark(
    pet.getFields().categoryId,
    '@deprecated(reason: "Ask for the category.") @sunset(since: "2026-11-01", on: "2027-11-01", replacement: "Pet.category")',
  );
  mark(pet.getFields().name, '@deprecated(reason: "Too long.") @sunset(since: "2026-10-01", on: "2028-01-01")');
  mark(
    pets?.args.find(({ name }) => name === 'before'),
    '@deprecated(reason: "Go forward.")',
  );
  mark(item.getFields().status, '@deprecated @stability(level: EXPERIMENTAL)');
  return schema;
}

function mark(element: { astNode?: unknown } | undefined, directives: string): void {
  const [definition] = parse(`type T { f: Int ${directives} }`).definitions;
  if (!element || definition?.kind !== Kind.OBJECT_TYPE_DEFINITION) throw new Error(`no element for ${directives}`);
  element.astNode = definition.fields?.[0];
}

const CATEGORY_ID = {
  coordinate: 'Pet.categoryId',
  reason: 'Ask for the category.',
  since: '2026-11-01',
  sunset: '2027-11-01',
  replacement: 'Pet.category',
};
const NAME = { coordinate: 'Pet.name', reason: 'Too long.', since: '2026-10-01', sunset: '2028-01-01' };
const BEFORE = { coordinate: 'Query.pets(before:)', reason: 'Go forward.' };
const STATUS = { coordinate: 'InventoryItem.status', reason: 'No longer supported' };

let gateway: Gateway;
beforeAll(async () => {
  // The real schema has no deprecated elements yet, so this mock marks some elements as deprecated.
  jest
    .spyOn(schemas as { buildSchema: unknown }, 'buildSchema', 'get')
    .mockReturnValue((parts: schemas.SchemaParts) => deprecateSome(buildSchema(parts)));
  gateway = await startGateway({});
  await emptyDatabase(gateway.database);
  await gateway.data(`mutation {
    createCategory(input: { name: "Dogs" }) { id }
    createPet(input: { name: "Rex", categoryId: 1 }) { id }
    setInventory(petId: 1, input: { quantity: 3 }) { petId }
  }`);
});
afterAll(() => gateway.close());

const named = ({ extensions }: { extensions?: Json }) => extensions?.deprecations ?? [];

describe('the deprecated fields and arguments in a document are reported', () => {
  test.each<[string, object | undefined, object[]]>([
    ['{ pets { nodes { id } } }', undefined, []],
    ['{ pets { nodes { id categoryId a: categoryId } } }', undefined, [CATEGORY_ID]],
    ['{ pet(id: 1) { ...F } } fragment F on Pet { ... on Pet { categoryId } }', undefined, [CATEGORY_ID]],
    ['query ($no: Boolean = false) { pet(id: 1) { id categoryId @include(if: $no) } }', undefined, [CATEGORY_ID]],
    ['{ pets { nodes { inventory { status } name } } }', undefined, [STATUS, NAME]],
    ['{ pets(last: 1, before: null) { totalCount } }', undefined, [BEFORE]],
    ['query ($b: String) { pets(last: 1, before: $b) { totalCount } }', {}, [BEFORE]],
  ])('%s with %j', async (query, variables, deprecations) => {
    const first = await gateway.graphql(query, variables);
    expect([first.status, first.errors]).toEqual([200, []]);
    expect(named(first)).toEqual(deprecations);
    // The second time, the document is cached.
    const second = await gateway.graphql(query, variables);
    expect(named(second)).toEqual(deprecations);
    for (const name of ['deprecation', 'sunset', 'link', 'x-stability'])
      expect([name, second.headers[name]]).toEqual([name, first.headers[name]]);
  });
});

test('each of two operations in a document reports only the deprecated fields that it selects', async () => {
  const query = 'query A { pet(id: 1) { ...F } } query B { pet(id: 1) { id } } fragment F on Pet { categoryId }';
  const run = async (operationName: string) => {
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      payload: { query, operationName },
    });
    return answer.json();
  };
  for (const _ of ['through Apollo', 'known']) {
    expect(named(await run('A'))).toEqual([CATEGORY_ID]);
    expect(named(await run('B'))).toEqual([]);
  }
});

describe('headers', () => {
  test('contain the earliest dates of all deprecated elements', async () => {
    const { headers } = await gateway.graphql('{ pets { nodes { name categoryId } } }');
    expect(headers).toMatchObject({
      deprecation: `@${Date.UTC(2026, 9, 1) / 1000}`,
      sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
      link: '</docs/deprecation>; rel="deprecation"; type="text/html"',
    });
    expect(headers['x-stability']).toBeUndefined();
  });

  test('contain no date if the deprecated element has no date', async () => {
    const { headers } = await gateway.graphql('{ pets(last: 1, before: null) { totalCount } }');
    expect([headers.deprecation, headers.sunset]).toEqual([undefined, undefined]);
    expect(headers.link).toBe('</docs/deprecation>; rel="deprecation"; type="text/html"');
  });

  test('contain the least stable level of all elements', async () => {
    const beta = 'mutation { removeInventory(petId: 7) { petId } }';
    expect((await gateway.graphql(beta)).headers['x-stability']).toBe('beta');
    const both = 'mutation { removeInventory(petId: 7) { petId status } }';
    expect((await gateway.graphql(both)).headers['x-stability']).toBe('experimental');
  });

  test('are sent in responses to rejected requests, and over GET', async () => {
    const refused = await gateway.graphql('{ pet(id: 1) { categoryId } }', undefined, {
      'x-api-key': undefined,
    });
    expect(refused.status).toBe(200);
    const none = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
    const denied = await none.graphql('{ pet(id: 1) { categoryId } }', undefined, { 'x-api-key': undefined });
    await none.close();
    expect([denied.status, denied.headers.sunset, named(denied)]).toEqual([
      401,
      'Mon, 01 Nov 2027 00:00:00 GMT',
      [CATEGORY_ID],
    ]);
    const url = `/graphql?query=${encodeURIComponent('{ pet(id: 1) { categoryId } }')}`;
    const got = await gateway.app.inject({ url, headers: { 'apollo-require-preflight': '1' } });
    expect([got.headers.sunset, named(got.json())]).toEqual(['Mon, 01 Nov 2027 00:00:00 GMT', [CATEGORY_ID]]);
  });

  test('are sent with event streams', async () => {
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/graphql/stream',
      headers: { accept: 'text/event-stream' },
      payload: { query: '{ pet(id: 1) { categoryId } }' },
    });
    expect(answer.headers.sunset).toBe('Mon, 01 Nov 2027 00:00:00 GMT');
    expect(answer.body).toContain('"deprecations":[{"coordinate":"Pet.categoryId"');
  });

  test('of REST responses do not report deprecated fields of the GraphQL schema', async () => {
    const { statusCode, headers } = await gateway.app.inject({ url: '/pets?name=R&status=sold' });
    expect([statusCode, headers.deprecation, headers.sunset]).toEqual([200, undefined, undefined]);
  });
});

test('a replayed response has the same body as the original response, including the deprecations', async () => {
  const send = () =>
    gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'idempotency-key': 'lifecycle' },
      payload: { query: 'mutation { updatePet(id: 1, input: { name: "Rex" }) { categoryId } }' },
    });
  const [first, second] = [await send(), await send()];
  expect(named(first.json())).toEqual([CATEGORY_ID]);
  expect(second.body).toBe(first.body);
  expect(second.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-stability': 'experimental' });
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
    ['Pet.categoryId', 'deprecated', 'graphql'],
    ['InventoryItem.status', 'experimental', 'graphql'],
  ] as const;
  const all = () => Promise.all(counted.map((each) => count(each[0], each[1], each[2])));
  const before = await all();
  await gateway.graphql('mutation { removeInventory(petId: 1) { petId } }');
  await gateway.app.inject({ method: 'DELETE', url: '/store/inventory/1' });
  await gateway.app.inject({ url: '/pets/1' });
  // A request with a wrong key is rejected, so it does not count as a use.
  await gateway.app.inject({ url: '/pets/1', headers: { 'x-api-key': 'wrong' } });
  await gateway.graphql('{ a: pet(id: 1) { categoryId } b: pet(id: 1) { categoryId } }');
  await gateway.graphql('{ inventoryItem(petId: 1) { status } }');
  expect((await all()).map((times, i) => times - (before[i] ?? 0))).toEqual([1, 1, 1, 1, 1]);
});
