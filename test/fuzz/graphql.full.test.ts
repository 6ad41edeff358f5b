import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { type Gateway, startGateway } from '../helper/gateway';
import { faultsOfGraphQL } from './faults';
import { FUZZ_TIMEOUT_MS, fuzz } from './fuzz';
import { graphqlRequests } from './graphql';

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test(
  'every fuzzed GraphQL request gets declared errors or data that matches its document, and never a 5xx status',
  async () => {
    const statuses = await fuzz(gateway, graphqlRequests(SCHEMA), 300, (request, response) =>
      faultsOfGraphQL(SCHEMA, request, response),
    );
    // These statuses show that the fuzzer has sent valid and invalid requests.
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 405, 406]));
  },
  FUZZ_TIMEOUT_MS,
);
