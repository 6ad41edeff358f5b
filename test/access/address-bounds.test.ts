import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Gateway, startGateway } from '../helper/gateway';
import { running, type Subscriber, streamClient } from '../helper/live';
import { until } from '../helper/until';
import { ask } from '../http/client';
import { IdentityProvider } from './identity-provider';

/** The limit of one caller on requests in progress, on live operations, and on WebSocket connections. */
const MOST = 16;
const SUBSCRIPTION = 'subscription { petChanged { kind } }';

let provider: IdentityProvider;
let gateway: Gateway;
let url: URL;
beforeAll(async () => {
  provider = await IdentityProvider.start();
  gateway = await startGateway({
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: 'shop',
    TRUST_PROXY: '127.0.0.1',
    MAX_REQUESTS_IN_PROGRESS: String(4 * MOST),
    MAX_SUBSCRIPTIONS_PER_CALLER: String(MOST),
  });
  url = new URL(await gateway.listen());
});
const leave: (() => void)[] = [];
afterEach(async () => {
  for (const each of leave.splice(0)) each();
  await until(async () => (await running(gateway)) === 0);
});
afterAll(async () => {
  gateway.server.server.closeAllConnections();
  await gateway.close();
  await provider.stop();
});

let addresses = 0;
let users = 0;
/** An address that no other test uses. */
const newAddress = () => `198.51.100.${++addresses}`;
const from = (address: string) => ({ 'X-Forwarded-For': address });
/** The header of a user whose token this instance knows. */
async function signIn(sub = `user ${++users}`): Promise<{ Authorization: string }> {
  const headers = { Authorization: `Bearer ${await provider.sign({ sub })}` };
  const { status } = await ask(gateway, 'GET /rate_limit', { headers: { 'x-api-key': undefined, ...headers } });
  expect(status).toBe(200);
  return headers;
}
const signInMany = (count: number) => Promise.all(Array.from({ length: count }, () => signIn()));
const withKey = async () => ({ 'X-API-Key': (await gateway.createKey()).whole });

/** Opens a WebSocket. @returns whether the gateway accepts it. */
async function connects(headers: Record<string, string>): Promise<boolean> {
  const socket = new WebSocket(`ws://${url.host}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
  socket.on('error', () => undefined);
  leave.push(() => socket.terminate());
  const opened = once(socket, 'open').then(
    () => 'open',
    () => 'refused',
  );
  if ((await opened) === 'refused') return false;
  socket.send('{"type":"connection_init"}');
  return Promise.race([once(socket, 'message').then(() => true), once(socket, 'close').then(() => false)]);
}

function subscriber(headers: Record<string, string>): Subscriber {
  const client = streamClient(url.origin, headers);
  leave.push(() => client.close());
  return client;
}

/** Sends a request with only the first of the nine bytes of its body. */
function sendHalf(headers: Record<string, string>) {
  const fields = { Host: 'localhost', 'Content-Type': 'application/json', 'Content-Length': '9', ...headers };
  const socket: Socket = connect(Number(url.port), url.hostname).setEncoding('utf8');
  const sent = { received: '' };
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      sent.received += data;
    });
  const lines = Object.entries(fields).map((field) => field.join(': '));
  socket.write(['POST /graphql HTTP/1.1', ...lines, '', '{'].join('\r\n'));
  leave.push(() => socket.destroy());
  return sent;
}

async function inProgress(): Promise<number> {
  const { text } = await ask(gateway, 'GET /metrics');
  return Number(/^petstore_requests_in_progress (-?\d+)$/m.exec(text)?.[1]) - 1;
}

describe('an address has the bounds of one caller, shared by its users and anonymous callers', () => {
  test('for WebSocket connections', async () => {
    const address = newAddress();
    const accepted: boolean[] = [];
    for (const headers of [...(await signInMany(MOST - 1)), {}, await signIn(), {}])
      accepted.push(await connects({ ...headers, ...from(address) }));
    expect(accepted).toEqual([...Array(MOST).fill(true), false, false]);
    expect(await connects({ ...(await withKey()), ...from(address) })).toBe(true);
    expect(await connects({ ...(await signIn()), ...from(newAddress()) })).toBe(true);
  });

  test('for live operations', async () => {
    const address = newAddress();
    for (const headers of [...(await signInMany(MOST - 1)), {}])
      subscriber({ ...headers, ...from(address) }).subscribe(SUBSCRIPTION);
    await until(async () => (await running(gateway)) === MOST);
    for (const headers of [await signIn(), {}]) {
      const { error } = await subscriber({ ...headers, ...from(address) })
        .subscribe(SUBSCRIPTION)
        .untilOver();
      expect(error).toMatchObject({ response: { status: 429 } });
    }
    subscriber({ ...(await withKey()), ...from(address) }).subscribe(SUBSCRIPTION);
    subscriber({ ...(await signIn()), ...from(newAddress()) }).subscribe(SUBSCRIPTION);
    await until(async () => (await running(gateway)) === MOST + 2);
  });

  test('for requests in progress', async () => {
    const address = newAddress();
    const callers = [...(await signInMany(MOST)), {}];
    const [late, key, elsewhere] = [await signIn(), await withKey(), await signIn()];
    await ask(gateway, 'GET /rate_limit', { headers: key });
    const halves = callers.map((headers) => sendHalf({ ...headers, ...from(address) }));
    await until(() => halves.filter(({ received }) => received).length === 1);
    expect(halves.map(({ received }) => received).join('')).toMatch(/^HTTP\/1\.1 429 .*"code":"RATE_LIMITED"/s);
    await until(async () => (await inProgress()) === MOST);
    const statusOf = async (headers: object, at = address) =>
      (await ask(gateway, 'GET /pets', { headers: { 'x-api-key': undefined, ...headers, ...from(at) } })).status;
    expect([await statusOf(late), await statusOf({}), await statusOf(key)]).toEqual([429, 429, 200]);
    expect(await statusOf(elsewhere, newAddress())).toBe(200);
    for (const each of leave.splice(0)) each();
    await until(async () => (await statusOf(late)) === 200 && (await statusOf({})) === 200);
  });
});

test('a user has the bounds of one caller over all its addresses', async () => {
  const headers = await signIn();
  const accepted: boolean[] = [];
  for (let i = 0; i <= MOST; i++) accepted.push(await connects({ ...headers, ...from(newAddress()) }));
  expect(accepted).toEqual([...Array(MOST).fill(true), false]);
});
