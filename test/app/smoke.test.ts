import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { socketClient, streamClient } from '../helper/live';
import { HEADERS } from '../helper/traffic';

const installation = new Installation({
  ADMIN_API_KEY: ADMIN_KEY,
  LOG_LEVEL: 'silent',
});
afterAll(() => installation.remove());

test('the process responds over REST, GraphQL, WebSocket and event streams, and exits with code 0 on SIGTERM', async () => {
  const gateway = await installation.start();
  const created = await fetch(`${gateway.url}/categories`, {
    method: 'POST',
    headers: { ...HEADERS, connection: 'close' },
    body: JSON.stringify({ name: 'Dogs' }),
  });
  expect(created.status).toBe(201);

  const query = '{ categories { edges { node { name } } } }';
  const data = { categories: { edges: [{ node: { name: 'Dogs' } }] } };
  expect(await gateway.graphql(query)).toMatchObject({ data });

  const client = socketClient(gateway.url, { apiKey: ADMIN_KEY });
  const socket = await client.subscribe(query).untilOver();
  const stream = await streamClient(gateway.url, HEADERS).subscribe(query).untilOver();
  for (const { answers } of [socket, stream]) expect(answers).toMatchObject([{ data }]);

  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
  client.close();
});
