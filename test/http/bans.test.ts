import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getIntrospectionQuery } from 'graphql';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Documents } from '../../src/graphql/documents';
import { RequestsInProgress } from '../../src/http/requests-in-progress';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { responsesIn } from '../helper/messages';
import { until } from '../helper/until';
import { ask, READS } from './client';

let gateway: Gateway;
let url: URL;
beforeAll(async () => {
  gateway = await startGateway({ BAN_AFTER: '3' });
  url = new URL(await gateway.listen());
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => gateway.close());

const sockets: Socket[] = [];

/** Sends bytes, and collects what comes back. */
function send(text: string, port = Number(url.port)) {
  const socket = connect(port, url.hostname).setEncoding('latin1');
  const connection = { socket, received: '', isClosed: false };
  socket
    .on('error', () => undefined)
    .on('close', () => {
      connection.isClosed = true;
    })
    .on('data', (data) => {
      connection.received += data;
    });
  socket.write(text);
  sockets.push(socket);
  return connection;
}

const head = (line: string, headers: object) =>
  [line, 'Host: localhost', ...Object.entries(headers).map((field) => field.join(': ')), '', ''].join('\r\n');

/** A key without quota. */
async function spentKey(): Promise<TestKey> {
  const key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
  await ask(gateway, 'GET /pets', { headers: key.headers });
  return key;
}

async function bannedKey(): Promise<TestKey> {
  const key = await spentKey();
  for (let i = 0; i < 3; i++) await ask(gateway, 'GET /pets', { headers: key.headers });
  return key;
}

const codeIn = (received: string) => /"code":"(\w+)"/.exec(received)?.[1];
const LONG = `{ ${Array.from({ length: 60 }, (_, i) => `a_long_alias_${i}: __typename`).join(' ')} }`;
const JSON_BODY = { 'Content-Type': 'application/json', 'Content-Length': 1000 };

describe('a banned caller', () => {
  test.each(['POST /pets', 'POST /graphql', 'PATCH /pets/1'])(
    'is rejected before the body of %s arrives',
    async (on) => {
      const { headers } = await bannedKey();
      const connection = send(head(`${on} HTTP/1.1`, { ...headers, ...JSON_BODY }));
      await until(async () => connection.received.includes('\r\n\r\n{'), 3);
      const [response] = responsesIn(connection.received);
      expect(response?.status).toBe(429);
      expect(codeIn(connection.received)).toBe('KEY_BANNED');
      expect(Number(response?.headers['retry-after'])).toBeGreaterThan(50);
      expect(response?.headers['x-ratelimit-remaining']).toBe('0');
    },
  );

  test.each<[string, (headers: Record<string, string>) => Promise<unknown>]>([
    ['by POST', (headers) => ask(gateway, `${LONG} # by POST`, { headers })],
    ['by GET', (headers) => gateway.app.inject({ url: '/graphql', query: { query: LONG }, headers })],
    [
      'as an event stream',
      (headers) =>
        gateway.app.inject({
          method: 'POST',
          url: '/graphql/stream',
          headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
          payload: JSON.stringify({ query: `${LONG} # stream` }),
        }),
    ],
  ])('causes no document to be read: %s', async (_how, run) => {
    const { headers } = await bannedKey();
    const wait = jest.spyOn(Documents.prototype, 'admitUnknown');
    await run(headers);
    expect(wait).not.toHaveBeenCalled();
  });

  test('causes no document to be read over a WebSocket that was open before the ban', async () => {
    const key = await spentKey();
    const socket = new WebSocket(`ws://${url.host}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers: key.headers });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    for (let i = 0; i < 3; i++) await ask(gateway, 'GET /pets', { headers: key.headers });
    const read = jest.spyOn(Documents.prototype, 'read');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ nonsense' } }));
    const [message] = await once(socket, 'message');
    expect(codeIn(String(message))).toBe('KEY_BANNED');
    expect(read).not.toHaveBeenCalled();
    socket.terminate();
  });

  test('still gets pages, health checks and preflights, and is served again when the ban is lifted', async () => {
    const { headers, id } = await bannedKey();
    const page = await gateway.app.inject({ url: '/graphql', headers: { ...headers, accept: 'text/html' } });
    expect(page.statusCode).toBe(200);
    for (const path of ['/', '/docs', '/livez', '/openapi.json'])
      expect((await gateway.app.inject({ url: path, headers: { ...headers, accept: 'text/html' } })).statusCode).toBe(
        200,
      );
    expect(await ask(gateway, 'OPTIONS /pets', { headers })).toMatchObject({ status: 204 });
    expect(await ask(gateway, 'GET /pets', { headers })).toMatchObject({ status: 429, code: 'KEY_BANNED' });
    await gateway.data('mutation ($id: String!) { liftBan(caller: $id) }', { id });
    expect(await ask(gateway, 'GET /pets', { headers })).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  });

  test.each(READS)('has its rejections counted in its usage: %s', async (_interface, on) => {
    const { headers, id } = await bannedKey();
    for (let i = 0; i < 5; i++) await ask(gateway, on, { headers });
    const { apiKeys } = await gateway.data(
      'query ($id: String) { apiKeys(search: $id) { nodes { usage(days: 1) { refused } } } }',
      { id },
    );
    expect(JSON.stringify(apiKeys)).toContain('"refused":8');
  });
});

describe('a caller without quota', () => {
  const isRead = async (run: () => Promise<unknown>) => {
    const wait = jest.spyOn(Documents.prototype, 'read');
    await run();
    return wait.mock.calls.length > 0;
  };
  const overSocket = (query: string) => async (headers: Record<string, string>) => {
    const socket = new WebSocket(`ws://${url.host}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
    const [message] = await once(socket, 'message');
    socket.terminate();
    return codeIn(String(message));
  };

  test.each<[string, (headers: Record<string, string>) => Promise<string | undefined>]>([
    ['by POST', async (headers) => (await ask(gateway, `${LONG} # post ${Math.random()}`, { headers })).code],
    [
      'by GET',
      async (headers) => (await ask(gateway, `GET /graphql?query=${encodeURIComponent(LONG)}`, { headers })).code,
    ],
    ['over WebSocket', overSocket(`${LONG} # socket`)],
  ])('has long unknown documents rejected without being read, which leads to a ban: %s', async (_how, run) => {
    const { headers } = await spentKey();
    expect(await isRead(async () => expect(await run(headers)).toBe('RATE_LIMITED'))).toBe(false);
    for (let i = 0; i < 2; i++) await run(headers);
    expect(await ask(gateway, 'GET /pets', { headers })).toMatchObject({ code: 'KEY_BANNED' });
  });

  test.each([
    ['short documents', '{ rateLimit { plan } }'],
    ['the introspection of graphql-js', getIntrospectionQuery()],
    ['introspection with options', getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true })],
    ['minified introspection', getIntrospectionQuery({ descriptions: false }).replace(/\s+/g, ' ')],
  ])('still gets the answer to %s', async (_what, query) => {
    const { headers } = await spentKey();
    const { status, json } = await ask(gateway, query, { headers });
    expect([status, json.errors]).toEqual([200, undefined]);
  });

  test('still gets the answer to long documents that are known', async () => {
    const query = `${LONG} # known`;
    await ask(gateway, query);
    const { headers } = await spentKey();
    expect(await ask(gateway, query, { headers })).toMatchObject({ status: 200 });
  });
});

describe('a connection that goes on sending rejected requests', () => {
  const request = (headers: object) => head('GET /pets HTTP/1.1', headers);
  const statuses = (received: string) => responsesIn(received).map(({ status }) => status);

  test('gets further rejections ever later', async () => {
    const { headers } = await bannedKey();
    const connection = send('');
    const started = Date.now();
    for (let i = 1; i <= 40; i++) {
      connection.socket.write(request(headers));
      await until(async () => statuses(connection.received).length === i);
    }
    expect(new Set(statuses(connection.received))).toEqual(new Set([429]));
    expect(Date.now() - started).toBeGreaterThan(2_000);
  });

  test('gets further rejections ever later over GraphQL too, for a caller without quota that accepts only JSON', async () => {
    const { headers } = await spentKey();
    const patient = await gateway.another({ BAN_AFTER: '1000' });
    const { port } = new URL(await patient.listen());
    const body = JSON.stringify({ query: '{ pets { totalCount } }' });
    const fields = { ...headers, ...JSON_BODY, 'Content-Length': body.length, Accept: 'application/json' };
    // Another instance has its own windows.
    await ask(patient, 'GET /pets', { headers });
    const connection = send('', Number(port));
    const started = Date.now();
    for (let i = 1; i <= 40; i++) {
      connection.socket.write(head('POST /graphql HTTP/1.1', fields) + body);
      await until(async () => statuses(connection.received).length === i);
    }
    expect(connection.received.match(/"code":"RATE_LIMITED"/g)).toHaveLength(40);
    expect(Date.now() - started).toBeGreaterThan(2_000);
    connection.socket.destroy();
    await patient.close();
  });

  test('is closed after too many of them', async () => {
    const { headers } = await bannedKey();
    jest.spyOn(RequestsInProgress.prototype, 'paceRejection').mockReturnValue(Infinity);
    const connection = send(request(headers));
    await until(async () => connection.isClosed);
    expect(statuses(connection.received)).toEqual([429]);
  });

  test('is closed if it pipelines them', async () => {
    const { headers } = await bannedKey();
    const connection = send(request(headers).repeat(100));
    await until(async () => connection.isClosed);
    expect(statuses(connection.received).length).toBeLessThanOrEqual(32);
  });

  test('is not paced once a request succeeds', async () => {
    const { headers } = await bannedKey();
    const connection = send('');
    const started = Date.now();
    for (let i = 1; i <= 60; i++) {
      connection.socket.write(i % 15 ? request(headers) : request({}));
      await until(async () => statuses(connection.received).length === i);
    }
    // With pacing, the delays alone would take longer.
    expect(Date.now() - started).toBeLessThan(5_000);
    await sleep(0);
  });
});
