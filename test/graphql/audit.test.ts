import { serverAudits } from 'graphql-http';
import { type Gateway, startGateway } from '../helper/gateway';

/** Runs the audits of graphql-http (github.com/graphql/graphql-http) for the GraphQL over HTTP specification. */
let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway();
  url = `${await gateway.listen()}/graphql`;
});
afterAll(() => gateway.close());

const audits = serverAudits({ url: () => url });

test('graphql-http has 61 audits', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s %s', async (_id, _name, audit) => {
  const result = await audit.fn();
  expect(result).toMatchObject({ status: 'ok' });
});

describe('a rejected document gets', () => {
  const status = async (query: string, accept?: string) => {
    const headers = { 'content-type': 'application/json', ...(accept && { accept }) };
    const variables = { id: 'x' };
    const payload = { query, variables };
    const response = await gateway.app.inject({ method: 'POST', url: '/graphql', headers, payload });
    expect(Object.keys(response.json())).toEqual(['errors']);
    return response.statusCode;
  };
  const TOO_COMPLEX = `{ ${'a: __typename '.repeat(101)} }`;
  const REFUSED = ['{', '{ nothing }', 'query ($id: ID!) { pet(id: $id) { name } }', TOO_COMPLEX];

  test.each(REFUSED)('400 for clients that accept GraphQL responses, or any type: %s', async (query) => {
    for (const accept of [
      undefined,
      '*/*',
      'application/json, */*',
      'application/json, application/graphql-response+json;q=0.9',
    ])
      expect([accept, await status(query, accept)]).toEqual([accept, 400]);
  });

  test.each(REFUSED)('200 for clients that accept only application/json: %s', async (query) => {
    for (const accept of ['application/json', 'application/json;q=0.9, text/html;q=0.1'])
      expect([accept, await status(query, accept)]).toEqual([accept, 200]);
    expect(await status(query, 'application/json')).toBe(200); // The media type for this header is now cached.
  });

  test('the status of the error for all clients if the key is wrong', async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': 'wrong' };
    const payload = { query: '{ __typename }' };
    const { statusCode } = await gateway.app.inject({ method: 'POST', url: '/graphql', headers, payload });
    expect(statusCode).toBe(401);
  });
});
