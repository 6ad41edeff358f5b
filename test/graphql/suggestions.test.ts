import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
let production: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  production = await gateway.another({ NODE_ENV: 'production' });
});
afterAll(async () => {
  await production.close();
  await gateway.close();
});

const ANONYMOUS = { 'x-api-key': undefined };

describe.each([
  ['a field', '{ pets { nodez { id } } }', undefined],
  ['a type', '{ pet(id: 1) { ... on Pets { id } } }', undefined],
  ['an argument', '{ pets(firstt: 1) { totalCount } }', undefined],
  ['an enum value', '{ pets(filter: { statuses: [availible] }) { totalCount } }', undefined],
  ['an input field', '{ pets(filter: { statusess: sold }) { totalCount } }', undefined],
  [
    'an enum value in a variable',
    'query ($f: PetFilter) { pets(filter: $f) { totalCount } }',
    { f: { statuses: ['availible'] } },
  ],
  [
    'an input field in a variable',
    'query ($f: PetFilter) { pets(filter: $f) { totalCount } }',
    { f: { statuss: 'sold' } },
  ],
])('names that resemble %s that is misspelt are', (_what, query, variables) => {
  const answerOf = async (instance: Gateway, headers: object) =>
    JSON.stringify((await instance.graphql(query, variables, { ...headers })).errors);

  test('suggested outside production, and with a key', async () => {
    expect(await answerOf(gateway, ANONYMOUS)).toContain('Did you mean');
    expect(await answerOf(production, {})).toContain('Did you mean');
  });

  test('not suggested without a key in production', async () => {
    const told = await answerOf(production, ANONYMOUS);
    expect(told).toContain('"code"');
    expect(told).not.toContain('Did you mean');
  });
});
