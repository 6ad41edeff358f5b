import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TracedGateway } from './helper/traced';

let gateway: TracedGateway;
beforeAll(async () => {
  gateway = await TracedGateway.create();
});
afterAll(() => gateway.remove());

test('a collector that does not respond delays no request, delays the exit by seconds at most, and is reported in the log', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const { statuses, took, log } = await gateway.serve(endpoint, { path: '/pets' });
  silent.close();
  silent.closeAllConnections();
  expect(statuses).toEqual([200]);
  expect(took).toBeLessThan(8000);
  expect(log).toContainEqual(expect.objectContaining({ level: 'warn', msg: 'traces could not be sent' }));
});
