import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { statement } from '../../src/database/statement';
import { OrderService } from '../../src/petstore/orders/order-service';
import { PetService } from '../../src/petstore/pets/pet-service';
import { IdentityProvider } from '../access/identity-provider';
import { fillShop } from '../helper/database';
import { ADMIN_KEY, type Gateway, type Json, startGateway } from '../helper/gateway';
import { until } from '../helper/until';
import { browserTest, launchBrowser } from '../portal/browser';
import { bundle, PageServer } from './browser-page';

const ROOT = join(__dirname, '..', '..');
const APP = join(__dirname, 'clients');
const run = promisify(execFile);

let provider: IdentityProvider;
let gateway: Gateway;
let url: string;
/** A copy of the clients, below `node_modules` so that their imports find the installed packages. */
let directory: string;
let told: Record<'types', string[]> & { relay: { status: number; said: string; made: string[] } };

beforeAll(async () => {
  provider = await IdentityProvider.start();
  gateway = await startGateway({ JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'shop' });
  url = await gateway.listen();
  await fillShop(gateway.database);
  const cache = join(ROOT, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  directory = mkdtempSync(join(cache, 'clients-'));
  cpSync(APP, directory, { recursive: true });
  cpSync(join(ROOT, 'schema.graphql'), join(directory, 'schema.graphql'));
  writeFileSync(join(directory, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  const { stdout } = await run(process.execPath, [join(__dirname, 'client-tools.mjs'), directory]);
  told = JSON.parse(stdout);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await gateway.close();
  await provider.stop();
});

describe('with the published schema and OpenAPI document,', () => {
  test("Relay's compiler succeeds with nodeId as its id field, and its refetch queries use the field node", () => {
    expect(told.relay).toEqual({
      status: 0,
      said: '',
      made: [
        'CreateMutation',
        'DeleteMutation',
        'NextQuery',
        'PetsQuery',
        'Query',
        'Subscription',
        '_category',
        '_pets',
      ].map((name) => `relayOperations${name}.graphql.js`),
    });
    const next = readFileSync(join(directory, 'relay', 'made', 'relayOperationsNextQuery.graphql.js'), 'utf8');
    expect(next).toContain('node(id: $nodeId)');
  });

  test('graphql-codegen and openapi-typescript generate types with which the clients compile', () => {
    expect(told.types).toEqual([]);
  });
});

/** Runs a client against the gateway. @returns the observations that the client reports. */
async function seenBy(client: string, environment: Record<string, string> = {}): Promise<Json> {
  const env = { ...process.env, PETSTORE_URL: url, PETSTORE_API_KEY: ADMIN_KEY, ...environment };
  const { stdout } = await run(process.execPath, [join(directory, 'js', `${client}.js`)], { env });
  return JSON.parse(stdout);
}

test('openapi-fetch follows Link headers, places a repeated order only once, and handles errors by their code', async () => {
  expect(await seenBy('rest')).toEqual({
    pets: ['1 Rex', '2 Bello', '3 Tom'],
    orders: [2, 2, 'sold out'],
    stock: 1,
    // Three concurrent changes each add ten units, and none is lost.
    added: [11, 21, 31],
    refused: [{ path: 'name', message: 'must not be empty', rule: 'TOO_SHORT', params: { min: 1 } }],
  });
});

test("the guide's loop for If-Match ends with the error if a proxy changes every tag", async () => {
  await fillShop(gateway.database);
  let attempts = 0;
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    if (headers['if-match']) {
      attempts++;
      headers['if-match'] = '"changed"';
    }
    const forwarded = httpRequest(`${url}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  await expect(seenBy('rest', { PETSTORE_URL: `http://127.0.0.1:${port}` })).rejects.toMatchObject({
    stderr: expect.stringContaining('Error: PRECONDITION_FAILED: '),
  });
  proxy.closeAllConnections();
  proxy.close();
  // Three loops run at the same time.
  expect(attempts).toBeGreaterThan(3);
  expect(attempts).toBeLessThanOrEqual(3 * 10);
});

/** What the Apollo client reports on a new shop. */
const APOLLO_SEES = {
  pages: [
    ['Rex', 'Bello'],
    ['Rex', 'Bello', 'Tom'],
  ],
  totalCount: 3,
  // A pet is one object in the cache, so all lists show the change of a mutation or an event.
  renamed: ['Renamed', 'Bello', 'Tom'],
  live: ['Renamed', 'Elsewhere', 'Tom'],
  normalised: expect.arrayContaining(['Pet:1', 'Pet:2', 'Pet:3', 'InventoryItem:{"petId":"1"}']),
  orders: ['order of 1', 'INSUFFICIENT_STOCK', 'UNKNOWN_REFERENCE'],
  // Some of these requests are rejected before GraphQL runs.
  refused: [
    'UNAUTHENTICATED',
    'BAD_USER_INPUT',
    'GRAPHQL_VALIDATION_FAILED',
    'PAYLOAD_TOO_LARGE',
    'FORBIDDEN',
    'RATE_LIMITED',
    'KEY_BANNED',
  ],
};

/** A key with a quota of one request. */
async function limitedKey(): Promise<string> {
  return (await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1, scopes: ['READ'] })).whole;
}

test('Apollo Client merges pages in its cache, handles errors by code, and gets events', async () => {
  expect(await seenBy('apollo', { LIMITED_KEY: await limitedKey() })).toEqual(APOLLO_SEES);
});

/** Serves tokens of the user `ann` that are accepted for three seconds more. */
async function withTokens<T>(run: (environment: { TOKEN_URL: string }) => Promise<T>): Promise<T> {
  const server = createServer(async (_request, response) => {
    const token = await provider.sign({ sub: 'ann', exp: Math.floor(Date.now() / 1000) - 27 });
    response.setHeader('access-control-allow-origin', '*').end(token);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await run({ TOKEN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const USER_SEES = { user: 'ann', event: 'CREATED' };

test('Apollo Client sends the token of a user, and connects again with a new token when the token ends', async () => {
  expect(await withTokens((environment) => seenBy('sign-in', environment))).toEqual(USER_SEES);
});

/** What the urql client reports. @param names the names of the first two pets. */
const urqlSees = (...names: string[]) => ({
  names: [names, ['Tom']],
  error: ['INSUFFICIENT_STOCK', null],
  wrong: [
    [
      {
        path: 'first',
        message: 'must be an integer from 1 to 100',
        rule: 'OUT_OF_RANGE',
        params: { min: 1, max: 100 },
      },
    ],
    null,
  ],
  // The list is fetched again after a pet is created and after a pet is deleted, even if the list was empty.
  lists: [[], ['Luna'], []],
});

test('urql reads pages, and handles errors by code', async () => {
  expect(await seenBy('urql')).toEqual(urqlSees('Renamed', 'Elsewhere'));
});

test('Relay refetches pages, adds and deletes edges, gets live events, and keeps one record for each object', async () => {
  expect(await seenBy('relay')).toEqual({
    seen: [['Renamed'], ['Renamed', 'Elsewhere'], ['Luna', 'Renamed', 'Elsewhere'], ['Renamed', 'Elsewhere']],
    change: { petChanged: { kind: 'UPDATED', pet: { name: 'Live' } } },
    live: ['Renamed', 'Live'],
    // Category 1, pet 1 and order 1 have the same id, but separate records.
    category: 'Dogs',
    order: { quantity: 2, pet: { name: 'Renamed' } },
  });
});

/**
 * Runs a client that reaches the gateway through a proxy. A second after the first WebSocket, the proxy closes all connections,
 * and for eight seconds rejects new connections, like a gateway that is restarted.
 */
async function throughRestart<T>(run: (environment: { PETSTORE_URL: string }) => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>();
  let hasWebSocket = false;
  const proxy = createTcpServer((client) => {
    const target = connect(Number(new URL(url).port), '127.0.0.1');
    for (const socket of [client, target]) sockets.add(socket.on('error', () => undefined));
    client.on('data', (data) => {
      hasWebSocket ||= /upgrade: websocket/i.test(data.toString('latin1'));
    });
    client.pipe(target).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const closeAll = () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  try {
    const result = run({ PETSTORE_URL: `http://127.0.0.1:${port}` });
    await until(() => hasWebSocket, 30);
    await sleep(1000);
    closeAll();
    await sleep(8000);
    proxy.listen(port, '127.0.0.1');
    return await result;
  } finally {
    closeAll();
  }
}

test('live updates with the options of the guide survive a restart of the gateway', async () => {
  await fillShop(gateway.database);
  const changes = setInterval(() => {
    void gateway.data('mutation { updatePet(id: 2, input: { status: sold }) { id } }');
  }, 500);
  try {
    expect(await throughRestart((environment) => seenBy('restart', environment))).toEqual({
      change: { petChanged: expect.objectContaining({ kind: 'UPDATED', petId: '2' }) },
      retries: [false, true],
    });
  } finally {
    clearInterval(changes);
  }
});

test('the live updates of a user survive a restart of the gateway', async () => {
  const seen = withTokens((tokens) => throughRestart((proxy) => seenBy('sign-in', { ...tokens, ...proxy })));
  expect(await seen).toEqual(USER_SEES);
});

test('Apollo Client merges the pages of every list, supports fragments on Node, and keeps earlier results in its cache', async () => {
  await fillShop(gateway.database);
  for (const sql of [
    "insert into pets (name, category_id) select 'Pet ' || i, 1 from generate_series(4, 6) i",
    "insert into categories (name) select 'Category ' || i from generate_series(3, 5) i",
    'insert into orders (pet_id, complete) select 1, false from generate_series(2, 5)',
    "insert into inventory (pet_id, quantity) select id, 1 from pets where name like 'Pet %'",
  ])
    await gateway.database.serviceSession().query(statement(sql), []);
  for (const name of ['a', 'b', 'c']) await gateway.createKey({ name, plan: 'FREE', scopes: ['READ'] });
  expect(await seenBy('apollo-lists')).toEqual({
    lists: {
      pets: ['Rex', 'Bello', 'Tom', 'Pet 4', 'Pet 5', 'Pet 6'],
      categories: ['Dogs', 'Cats', 'Category 3', 'Category 4', 'Category 5'],
      orders: ['1', '2', '3', '4', '5'],
      inventory: ['1', '4', '5', '6'],
      apiKeys: expect.arrayContaining(['a', 'b', 'c', 'first admin key']),
      ofCategory: ['Rex', 'Bello', 'Pet 4', 'Pet 5', 'Pet 6'],
      ofPet: ['1', '2', '3', '4', '5'],
    },
    // The results of earlier queries stay in the cache after later queries read other fields of the same objects.
    viewer: {
      viewer: { __typename: 'Viewer', plan: 'ENTERPRISE', rateLimit: { __typename: 'RateLimit', plan: 'ENTERPRISE' } },
    },
    rateLimit: { rateLimit: { __typename: 'RateLimit', plan: 'ENTERPRISE' } },
    node: { node: { __typename: 'Pet', nodeId: expect.any(String), id: '1', name: 'Rex' } },
    isNodeFound: true,
    warnings: [],
  });
});

test('urql retries a query that failed in an outage, but retries a mutation only if it has an Idempotency-Key', async () => {
  const outage = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const list = jest.spyOn(PetService.prototype, 'list').mockImplementationOnce(outage);
  const place = jest.spyOn(OrderService.prototype, 'place');
  place.mockImplementationOnce(outage).mockImplementationOnce(outage);
  await fillShop(gateway.database);
  expect(await seenBy('outage')).toEqual({
    pets: ['Rex', 'Bello'],
    order: 'SERVICE_UNAVAILABLE',
    orderOnce: [{ placeOrder: { quantity: 1 } }, null],
  });
  expect([list.mock.calls.length, place.mock.calls.length]).toEqual([2, 3]);
});

/** Its types are types of browsers, which this file does not have. */
const { patientFetch } = jest.requireActual<{ patientFetch: typeof fetch }>('./clients/patient-fetch');
const ORDER = { petId: 1, quantity: 1 };

test.each([
  ['REST', '/store/orders', ORDER],
  [
    'GraphQL',
    '/graphql',
    { query: 'mutation ($input: NewOrder!) { placeOrder(input: $input) { id } }', variables: { input: ORDER } },
  ],
])(
  "patientFetch of the guide waits while another %s request with its Idempotency-Key runs, and gets that request's response",
  async (_interface, path, payload) => {
    await fillShop(gateway.database);
    const { place } = OrderService.prototype;
    let finish: () => void = () => undefined;
    const placed = jest.spyOn(OrderService.prototype, 'place').mockImplementationOnce(async function (
      this: OrderService,
      ...args
    ) {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return place.apply(this, args);
    });
    const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY, 'idempotency-key': 'order-1' };
    const send = (by: typeof fetch) => by(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(payload) });
    const first = send(fetch);
    await until(() => placed.mock.calls.length === 1);
    const answers: Response[] = [];
    const { fetch: sent } = globalThis;
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
      const answer = await sent(...request);
      answers.push(answer);
      return answer;
    });
    const second = send(patientFetch);
    await until(() => answers.length === 1);
    finish();
    const [answer, original] = await Promise.all([second, first]);
    expect(answers.map(({ status }) => status)).toEqual([409, original.status]);
    expect(answers[0]?.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(await answer.text()).toBe(await original.text());
    expect(placed.mock.calls).toHaveLength(1);
  },
);

/** Uses up a quota by patientFetch, and sends one more request, which the caller abandons after a second. */
async function sendOneTooMany(quota: { perMinute: number; perDay: number }): Promise<Response> {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', scopes: ['READ'], ...quota });
  expect((await patientFetch(`${url}/pets`, { headers })).status).toBe(200);
  return patientFetch(`${url}/pets`, { headers, signal: AbortSignal.timeout(1000) });
}

test('patientFetch of the guide stops waiting when its signal aborts', async () => {
  await expect(sendOneTooMany({ perMinute: 1, perDay: 1000 })).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('patientFetch of the guide does not wait for the next day', async () => {
  expect((await sendOneTooMany({ perMinute: 10, perDay: 1 })).status).toBe(429);
});

/** Runs a client in Chromium, on a page of another origin. @returns the observations that the client reports. */
async function seenInChromium(client: string, environment: Record<string, string> = {}): Promise<unknown> {
  const inBrowser = join(directory, 'browser');
  cpSync(join(directory, 'js'), inBrowser, { recursive: true });
  writeFileSync(join(inBrowser, 'ws.js'), 'export const { WebSocket } = window;');
  writeFileSync(join(inBrowser, 'run.js'), 'export const { url, key, report } = window.given;');
  const alias = { ws: join(inBrowser, 'ws.js') };
  const script = await bundle(join(inBrowser, `${client}.js`), 'browser', { alias, environment, format: 'esm' });
  const given = { url, key: ADMIN_KEY };
  const server = await PageServer.start(script);
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.addInitScript(
      `window.given = { ...${JSON.stringify(given)}, report: (seen) => { window.seen = seen; } };`,
    );
    await page.goto(server.url);
    await page.waitForFunction('window.seen', undefined, { timeout: 60_000 });
    return await page.evaluate('window.seen');
  } finally {
    await browser.close();
    server.close();
  }
}

browserTest('the code of the guides for Apollo Client and urql works in Chromium too', async () => {
  await fillShop(gateway.database);
  expect(await seenInChromium('apollo', { LIMITED_KEY: await limitedKey() })).toEqual(APOLLO_SEES);
  await fillShop(gateway.database);
  expect(await seenInChromium('urql')).toEqual(urqlSees('Rex', 'Bello'));
});

browserTest('the code of the guide for signing in works in Chromium too', async () => {
  expect(await withTokens((environment) => seenInChromium('sign-in', environment))).toEqual(USER_SEES);
});
