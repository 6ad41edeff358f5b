import type { OpenAPIV3 } from 'openapi-types';
import { type Gateway, startGateway } from '../helper/gateway';
import { Description } from '../rest/description';
import { faultsOfRest } from './faults';
import { FUZZ_TIMEOUT_MS, fuzz } from './fuzz';
import { restRequests } from './rest';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test(
  'every fuzzed REST request gets a response that the OpenAPI document declares, and never a 5xx status',
  async () => {
    const document = (await gateway.server.inject('/openapi.json')).json<OpenAPIV3.Document>();
    const requests = restRequests(await Description.of(document));
    const statuses = await fuzz(gateway, requests, 300, faultsOfRest);
    // These statuses show that the fuzzer has sent valid and invalid requests.
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 404, 409, 412, 415, 422]));
  },
  FUZZ_TIMEOUT_MS,
);
