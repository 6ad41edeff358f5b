import { type Gateway, startGateway } from '../helper/gateway';
import { socketClient, streamClient, useSubscribers } from '../helper/live';
import { ask, PETS } from './client';

const SUBSCRIPTION = 'subscription { petChanged { kind } }';

let now = Date.UTC(2026, 10, 28);
let gateway: Gateway;
let url: string;
beforeAll(async () => {
  const environment = { BAN_AFTER: '10', MAX_SUBSCRIPTIONS_PER_CALLER: '1' };
  gateway = await startGateway(environment, () => now);
  url = await gateway.listen();
});
afterAll(() => gateway.close());

const open = useSubscribers(() => gateway);
const extensionsIn = (error: unknown) => (error as { extensions: object }[])[0]?.extensions;

test('a GraphQL error of a used-up quota says over every transport when to retry', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 100 });
  await ask(gateway, 'GET /pets', { headers });
  now += 20_000;
  const refused = await ask(gateway, PETS, { headers });
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '40' } });
  expect(refused.json.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 40 });

  const overSocket = await open(socketClient(url, headers)).subscribe(PETS).untilOver();
  expect(extensionsIn(overSocket.error)).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 40 });

  const stream = await fetch(`${url}/graphql/stream`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: SUBSCRIPTION }),
  });
  const { errors } = (await stream.json()) as { errors: { extensions: object }[] };
  expect([stream.status, stream.headers.get('retry-after')]).toEqual([429, '40']);
  expect(errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 40 });
});

test('a GraphQL error of a banned caller says when the ban ends', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 100 });
  for (let i = 0; i <= 10; i++) await ask(gateway, PETS, { headers });
  const banned = await ask(gateway, PETS, { headers });
  expect(banned.json.errors?.[0]?.extensions).toMatchObject({ code: 'KEY_BANNED', retryAfter: 60 });
  expect(banned.headers['retry-after']).toBe('60');
});

test('a GraphQL error of too many live operations says when to retry', async () => {
  const { headers } = await gateway.createKey();
  const client = open(streamClient(url, headers));
  client.subscribe(SUBSCRIPTION);
  const refused = async () => {
    const { error } = await open(socketClient(url, headers)).subscribe(SUBSCRIPTION).untilOver();
    return extensionsIn(error);
  };
  expect(await refused()).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 5 });
});

test('an error that waiting does not help has no retryAfter', async () => {
  const wrong = await ask(gateway, '{ pet(id: 0) { id } }');
  expect(wrong.json.errors?.[0]?.extensions).not.toHaveProperty('retryAfter');
  expect(wrong.headers).not.toHaveProperty('retry-after');
});

test('a REST error has Retry-After in its headers only', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 100 });
  await ask(gateway, 'GET /pets', { headers });
  const refused = await ask(gateway, 'GET /pets', { headers });
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
  expect(refused.json).not.toHaveProperty('retryAfter');
});
