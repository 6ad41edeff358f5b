import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type FieldDefinitionNode, type GraphQLFieldConfig, type GraphQLSchema, parse } from 'graphql';
import * as directive from '../../src/graphql/rate-limit-directive';
import type { Gateway } from '../helper/gateway';
import { startToys } from '../toys/gateway';

const { enforceRateLimits } = directive;
let gateway: Gateway | undefined;
afterEach(async () => {
  jest.restoreAllMocks();
  await gateway?.close();
});

/** The definition of a field with `@rateLimit`, or with no directive. */
function definitionOf(name: string, isCounted: boolean): FieldDefinitionNode {
  const [type] = parse(`type Query { ${name}: Int ${isCounted ? '@rateLimit' : ''} }`).definitions;
  return (type as { fields: readonly FieldDefinitionNode[] }).fields[0] as FieldDefinitionNode;
}

/** Starts the gateway with `@rateLimit` only on the `counted` root fields. `enforce` replaces `enforceRateLimits`. */
async function startWith(counted: readonly string[], enforce = enforceRateLimits): Promise<void> {
  const mark = (config: GraphQLFieldConfig<unknown, unknown>, name: string) => {
    const { directives = [], ...definition } = definitionOf(name, counted.includes(name));
    const others = config.astNode?.directives?.filter((each) => each.name.value !== 'rateLimit') ?? [];
    return { ...config, astNode: { ...definition, ...config.astNode, directives: [...others, ...directives] } };
  };
  jest
    .spyOn(directive as { enforceRateLimits: unknown }, 'enforceRateLimits', 'get')
    .mockReturnValue((schema: GraphQLSchema) => enforce(mapSchema(schema, { [MapperKind.ROOT_FIELD]: mark })));
  gateway = await startToys();
}

/** Sends a GraphQL document, or a REST request to a path, with a new key. @returns the quota that the request used. */
async function costOf(request: string): Promise<number> {
  const key = await gateway?.createKey();
  const answer = request.startsWith('/')
    ? await gateway?.app.inject({ url: request, headers: key?.headers })
    : await gateway?.graphql(request, {}, key?.headers);
  return 60 - Number(answer?.headers['x-ratelimit-remaining']);
}

const TWO_FIELDS = '{ a: toys { nodes { id } } b: toys { nodes { id } } }';

test.each<[counted: string[], costs: Record<string, number>]>([
  [['toy'], { '{ toys { nodes { id } } }': 0, '/toys': 0, '{ toy(id: 1) { id } }': 1, '/toys/1': 1 }],
  [
    ['rateLimit', 'viewer'],
    { '{ viewer { plan } }': 1, '{ viewer { plan } rateLimit { cost } }': 2, '/rate_limit': 1, '/toys': 0 },
  ],
  [['toys'], { [TWO_FIELDS]: 2, '/toys': 1 }],
])('with @rateLimit only on %j, exactly these fields use quota, in GraphQL and REST', async (counted, costs) => {
  await startWith(counted);
  for (const [request, cost] of Object.entries(costs))
    expect([request, await costOf(request)]).toEqual([request, cost]);
});

test('without enforcement of the directive, an operation is charged as one request, regardless of its fields', async () => {
  await startWith(['toys'], (schema) => schema);
  expect([await costOf(TWO_FIELDS), await costOf('/toys')]).toEqual([1, 1]);
});
