import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { type Gateway, startGateway } from '../helper/gateway';
import { faultsOfGraphQL } from './answers';
import { graphqlRequests } from './graphql';
import { FUZZ_TIMEOUT_MS, fuzz } from './runs';

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test(
  'any GraphQL request is answered as the schema says',
  async () => {
    const statuses = await fuzz(gateway, graphqlRequests(SCHEMA), 300, (request, response) =>
      faultsOfGraphQL(SCHEMA, request, response),
    );
    // They are a mix of valid and invalid ones.
    for (const status of [200, 400, 401, 405, 406])
      expect([status, statuses.get(status)]).toEqual([status, expect.any(Number)]);
  },
  FUZZ_TIMEOUT_MS,
);
