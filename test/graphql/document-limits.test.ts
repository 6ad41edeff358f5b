import { getIntrospectionQuery } from 'graphql';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Fragments that each spread the next one twice: 2^n fields from n lines. */
function doubling(levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment F${i} on Pet { ...F${i + 1} category { id } ... on Pet { ...F${i + 1} } }`,
  );
  return `{ pet(id: 1) { ...F0 } } ${fragments.join(' ')} fragment F${levels} on Pet { id }`;
}

test.each([
  ['too many tokens', `{ ${'pet(id: 1) { id } '.repeat(1000)} }`, 'GRAPHQL_PARSE_FAILED'],
  ['too many fields', `{ pet(id: 1) { ${'id '.repeat(2000)} } }`, 'OPERATION_TOO_COMPLEX'],
  [
    'too deep a nest',
    `{ pet(id: 1) { ${'category { pets { nodes { '.repeat(7)} id ${'} } }'.repeat(7)} } }`,
    'OPERATION_TOO_COMPLEX',
  ],
  ['fragments that multiply', doubling(12), 'OPERATION_TOO_COMPLEX'],
  ['fragments that multiply without end', doubling(150), 'OPERATION_TOO_COMPLEX'],
])('%s are refused as a whole, and quickly', async (_what, query, code) => {
  const started = process.cpuUsage();
  const { status, errors, data } = await gateway.graphql(query);
  const { user, system } = process.cpuUsage(started);
  expect({ status, data, code: errors[0]?.extensions?.code }).toEqual({ status: 400, data: undefined, code });
  expect((user + system) / 1000).toBeLessThan(500);
});

test('the introspection that tools send is within the limits', async () => {
  const { status, errors } = await gateway.graphql(getIntrospectionQuery({ inputValueDeprecation: true }));
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
});
