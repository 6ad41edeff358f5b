import type { OpenAPIV3 } from 'openapi-types';
import { type Gateway, startGateway } from '../helper/gateway';
import { Description } from '../rest/description';
import { RestJudge } from './answers';
import { restRequests } from './rest';
import { FUZZ_TIMEOUT_MS, fuzz } from './runs';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test(
  'any REST request is answered as its document says',
  async () => {
    const document = (await gateway.server.inject('/openapi.json')).json<OpenAPIV3.Document>();
    const description = await Description.of(document);
    const judge = new RestJudge(description);
    const statuses = await fuzz(gateway, restRequests(description), 300, (request, response) =>
      judge.faults(request, response),
    );
    // They are a mix of valid and invalid ones.
    for (const status of [200, 201, 204, 400, 401, 404, 409, 415, 422])
      expect([status, statuses.get(status)]).toEqual([status, expect.any(Number)]);
  },
  FUZZ_TIMEOUT_MS,
);
