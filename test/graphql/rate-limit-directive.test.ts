import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type FieldDefinitionNode, type GraphQLFieldConfig, type GraphQLSchema, Kind, parse } from 'graphql';
import * as directive from '../../src/graphql/rate-limit-directive';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';

const { enforceRateLimits } = directive;
let gateway: Gateway | undefined;
afterEach(async () => {
  jest.restoreAllMocks();
  await gateway?.close();
});

const RATE_LIMIT = {
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: 'rateLimit' },
} as const;

/** A field that has no directives has no node of its own in a schema that was built from code. */
function definitionOf(name: string): FieldDefinitionNode {
  const [type] = parse(`type Query { ${name}: Int }`).definitions;
  const [field] = type?.kind === Kind.OBJECT_TYPE_DEFINITION ? (type.fields ?? []) : [];
  if (!field) throw new Error(name);
  return field;
}

/** Starts the gateway with `@rateLimit` on these root fields only, and the given enforcement. */
async function startWith(counted: readonly string[], enforce = enforceRateLimits): Promise<Gateway> {
  const mark = (config: GraphQLFieldConfig<unknown, unknown>, name: string) => {
    const astNode = config.astNode ?? definitionOf(name);
    const others = (astNode.directives ?? []).filter((each) => each.name.value !== 'rateLimit');
    const directives = counted.includes(name) ? [...others, RATE_LIMIT] : others;
    return { ...config, astNode: { ...astNode, directives } };
  };
  jest
    .spyOn(directive as { enforceRateLimits: unknown }, 'enforceRateLimits', 'get')
    .mockReturnValue((schema: GraphQLSchema) => enforce(mapSchema(schema, { [MapperKind.ROOT_FIELD]: mark })));
  gateway = await startGateway({});
  return gateway;
}

type Send = (key: TestKey) => Promise<{ headers: Record<string, unknown> }>;

/** What a request takes of the quota of a new key. */
async function costOf(gateway: Gateway, send: Send): Promise<number> {
  const { headers } = await send(await gateway.createKey());
  return 60 - Number(headers['x-ratelimit-remaining']);
}

const graphql =
  (query: string): Send =>
  async (key) =>
    gateway?.graphql(query, {}, key.headers) ?? { headers: {} };
const rest =
  (url: string): Send =>
  async (key) =>
    gateway?.app.inject({ url, headers: key.headers }) ?? { headers: {} };

test('a field without @rateLimit is free, by both interfaces', async () => {
  const gateway = await startWith(['order']);
  expect(await costOf(gateway, graphql('{ pets { nodes { id } } }'))).toBe(0);
  expect(await costOf(gateway, rest('/pets'))).toBe(0);
  expect(await costOf(gateway, graphql('{ order(id: 1) { id } }'))).toBe(1);
  expect(await costOf(gateway, rest('/store/orders/1'))).toBe(1);
});

test('another field counts once it has @rateLimit, by both interfaces', async () => {
  const gateway = await startWith(['rateLimit', 'viewer']);
  expect(await costOf(gateway, graphql('{ viewer { plan } }'))).toBe(1);
  expect(await costOf(gateway, graphql('{ viewer { plan } rateLimit { cost } }'))).toBe(2);
  expect(await costOf(gateway, rest('/rate_limit'))).toBe(1);
  expect(await costOf(gateway, rest('/pets'))).toBe(0);
});

test('nothing but the directive charges for fields: without it, a request is only counted as one', async () => {
  const gateway = await startWith(['pets'], (schema) => schema);
  const two = '{ a: pets { nodes { id } } b: pets { nodes { id } } }';
  expect(await costOf(gateway, graphql(two))).toBe(1);
  expect(await costOf(gateway, rest('/pets'))).toBe(1);
});

test('with it, the same operation is charged for each of its fields', async () => {
  const gateway = await startWith(['pets']);
  expect(await costOf(gateway, graphql('{ a: pets { nodes { id } } b: pets { nodes { id } } }'))).toBe(2);
});
