import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { running, type Subscriber, socketClient, useSubscribers } from '../../helper/live';
import { until } from '../../helper/until';

/**
 * Browsers cannot set headers of an upgrade, so they send their key in `connection_init`. Before that, no limit of their
 * address applies.
 */

const MOST = 3;
const VIEWER = '{ viewer { plan } }';
const CHANGES = 'subscription { petChanged { kind } }';

let gateway: Gateway;
let url: string;
let key: TestKey;
const sockets: WebSocket[] = [];
beforeEach(async () => {
  gateway = await startGateway({ MAX_SUBSCRIPTIONS_PER_CALLER: String(MOST), BAN_AFTER: '5' });
  url = await gateway.listen();
  key = await gateway.createKey({ plan: 'PRO', scopes: ['READ'] });
});
const keep = useSubscribers(() => gateway);
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await gateway.close();
});

const open = (params?: Record<string, unknown>, headers?: Record<string, string>): Subscriber =>
  keep(socketClient(url, params, headers));

const planOf = async (client: Subscriber) => {
  const { answers, error } = await client.subscribe(VIEWER).untilOver();
  return answers[0]?.data?.viewer?.plan ?? error;
};
const codesOf = async (client: Subscriber, query = CHANGES) => {
  const { error } = await client.subscribe(query).untilOver();
  return (error as { extensions?: { code: string } }[]).map?.(({ extensions }) => extensions?.code) ?? error;
};
const status = async () => (await fetch(`${url}/pets`)).status;

/** Opens a connection without a client library. @returns the status of the response if the upgrade is rejected. */
async function connect(headers: Record<string, string> = {}): Promise<WebSocket | Rejection> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
  sockets.push(socket);
  socket.on('error', () => undefined);
  const rejected = once(socket, 'unexpected-response').then(async ([, response]) => {
    response.resume();
    return { status: response.statusCode, headers: response.headers };
  });
  rejected.catch(() => undefined);
  return Promise.race([once(socket, 'open').then(() => socket), rejected]);
}

/** Opens a connection with this payload of `connection_init`. @returns the first message, or how the connection is closed. */
async function initialised(payload: object | undefined): Promise<string> {
  const socket = (await connect()) as WebSocket;
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  return Promise.race([
    once(socket, 'message').then(([data]) => JSON.parse(String(data)).type),
    once(socket, 'close').then(([code, reason]) => `${code} ${reason}`),
  ]);
}

interface Rejection {
  readonly status: number;
  readonly headers: Record<string, string>;
}

test('a ban of the address rejects operations without a key, but no connection with a key in connection_init', async () => {
  while ((await status()) !== 429);
  for (let i = 0; i < 6; i++) await status();
  expect(await (await fetch(`${url}/pets`)).json()).toMatchObject({ code: 'KEY_BANNED' });
  for (const params of [{ apiKey: key.whole }, { 'X-API-Key': key.whole }, { authorization: `Bearer ${key.whole}` }])
    expect(await planOf(open(params))).toBe('PRO');
  const live = open({ apiKey: key.whole }).subscribe(CHANGES);
  await until(async () => (await running(gateway)) === 1);
  live.stop();
  expect(await codesOf(open())).toEqual(['KEY_BANNED']);
  expect(await codesOf(open({ apiKey: '' }), VIEWER)).toEqual(['KEY_BANNED']);
});

test('a used-up quota of the address rejects operations without a key, but no connection', async () => {
  while ((await status()) !== 429);
  expect(await codesOf(open())).toEqual(['RATE_LIMITED']);
  expect(await planOf(open({ apiKey: key.whole }))).toBe('PRO');
  expect(await planOf(open())).toBe('FREE');
});

test('empty keys in connection_init count as none', async () => {
  for (const params of [{ apiKey: '' }, { 'x-api-key': ' ' }, { Authorization: '' }, { Authorization: 'Bearer ' }]) {
    const client = open(params);
    expect([params, await planOf(client)]).toEqual([params, 'FREE']);
    client.close();
  }
  expect(await planOf(open({ apiKey: '', Authorization: `Bearer ${key.whole}` }))).toBe('PRO');
  expect(await planOf(open({ apiKey: '' }, key.headers))).toBe('PRO');
});

test('the connections of anonymous callers at an address are limited once they have sent connection_init', async () => {
  for (const payload of [undefined, { apiKey: key.whole }]) {
    for (let i = 0; i < MOST; i++) expect(await initialised(payload)).toBe('connection_ack');
    expect(await initialised(payload)).toMatch(/^1013 At most 3 live operations and 3 WebSocket connections/);
  }
  expect(await planOf(open({}, (await gateway.createKey()).headers))).toBe('FREE');
  sockets.shift()?.close();
  await until(async () => (await initialised(undefined)) === 'connection_ack');
});

test('messages of other callers at the address do not close a connection before its connection_init', async () => {
  const noisy = (await connect()) as WebSocket;
  noisy.send('{"type":"connection_init"}');
  const closed = once(noisy, 'close');
  for (let i = 0; i < 1000; i++) noisy.send('{"type":"ping"}');
  expect((await closed)[0]).toBe(1008);
  expect(await planOf(open({ apiKey: key.whole }))).toBe('PRO');
});

test('an address has at most a hundred connections that send nothing, each for three seconds, and none is charged', async () => {
  const remaining = async () => (await fetch(`${url}/rate_limit`)).headers.get('ratelimit')?.replaceAll(/t=\d+/g, '');
  const before = await remaining();
  const silent = await Promise.all(Array.from({ length: 100 }, () => connect()));
  expect(silent.every((each) => each instanceof WebSocket)).toBe(true);
  for (let i = 0; i < 10; i++) {
    const rejected = (await connect()) as Rejection;
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([429, '3']);
  }
  // A key in the headers identifies the caller.
  expect(await connect(key.headers)).toBeInstanceOf(WebSocket);
  const codes = await Promise.all(silent.map(async (socket) => (await once(socket as WebSocket, 'close'))[0]));
  expect(new Set(codes)).toEqual(new Set([4408]));
  expect(await connect()).toBeInstanceOf(WebSocket);
  expect(await remaining()).toBe(before);
});
