import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ NODE_ENV: 'production' });
});
afterAll(() => gateway.close());

test.each([
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
])('names that resemble %s that is misspelt are suggested, also without a key', async (_what, query, variables) => {
  const { errors } = await gateway.graphql(query, variables, { 'x-api-key': undefined });
  expect(JSON.stringify(errors)).toContain('Did you mean');
});
