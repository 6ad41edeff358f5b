import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Gateway, startGateway } from '../helper/gateway';
import { ANONYMOUS, type Answer, ask, type Headers } from '../http/client';
import { IdentityProvider } from './identity-provider';

/** What the user Ben tries with the orders and credentials of the user Ann. */

let provider: IdentityProvider;
let gateway: Gateway;
let subgraph: Gateway;
let ann: Headers;
let ben: Headers;
let orders: Record<'ann' | 'ben', readonly string[]>;
const token = async (sub: string) => provider.sign({ sub });
const send = (headers: Headers, on: string, options: { headers?: object; body?: unknown } = {}): Promise<Answer> =>
  ask(gateway, on, { ...options, headers: { ...headers, ...options.headers } as Headers });

beforeAll(async () => {
  provider = await IdentityProvider.start();
  const settings = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'shop', JWT_PLAN: 'business' };
  gateway = await startGateway(settings);
  subgraph = await gateway.another({ ...settings, SUBGRAPH: 'true' });
  ann = { ...ANONYMOUS, authorization: `Bearer ${await token('ann')}` };
  ben = { ...ANONYMOUS, authorization: `Bearer ${await token('ben')}` };
  const place = async (headers: Headers) =>
    String((await send(headers, 'mutation { placeOrder(input: { quantity: 1 }) { id } }')).json.data?.placeOrder?.id);
  const placed: { ann: string[]; ben: string[] } = { ann: [], ben: [] };
  for (let i = 0; i < 3; i++) {
    placed.ann.push(await place(ann));
    placed.ben.push(await place(ben));
  }
  orders = placed;
});
afterAll(async () => {
  await subgraph.close();
  await gateway.close();
  await provider.stop();
});

const listOf = (on: Answer) => (on.json as unknown as { id: number }[]).map(({ id }) => String(id));

describe("another user's order", () => {
  test('is not found, in the same words as an order that does not exist', async () => {
    const [hers] = orders.ann;
    const none = '987654321';
    for (const on of [
      ['GET', 'DELETE', 'PATCH'].map((method) => (id: string) => `${method} /store/orders/${id}`),
      (id: string) => `mutation { updateOrder(id: ${id}, input: { quantity: 2 }) { id } }`,
      (id: string) => `mutation { cancelOrder(id: ${id}) { id } }`,
      (id: string) => `{ order(id: ${id}) { id } }`,
    ].flat()) {
      const [first, second] = await Promise.all(
        [hers, none].map(async (id = '') => {
          const text = on(id);
          const { status, json, error } = await send(
            ben,
            text,
            text.startsWith('PATCH') ? { body: { quantity: 2 } } : {},
          );
          const { requestId, ...told } = error ?? {};
          return { status, data: json.data, ...told, message: error?.message.replace(id, 'ID') };
        }),
      );
      expect(first).toEqual(second);
    }
  });

  test.each([
    ['GET', 'if-none-match'],
    ['PATCH', 'if-match'],
    ['DELETE', 'if-match'],
  ])('%s with the ETag of its owner in %s says that there is none', async (method, name) => {
    const [hers] = orders.ann;
    const { etag } = (await send(ann, `GET /store/orders/${hers}`)).headers;
    expect(etag).toBeDefined();
    const body = method === 'PATCH' ? { body: { quantity: 5 } } : {};
    for (const tag of [etag, '"another"', '*']) {
      const { status, code } = await send(ben, `${method} /store/orders/${hers}`, {
        ...body,
        headers: { [name]: tag },
      });
      expect([tag, status, code]).toEqual([tag, 404, 'NOT_FOUND']);
    }
    expect((await send(ann, `GET /store/orders/${hers}`)).headers.etag).toBe(etag);
  });

  test('is in no page, from any cursor', async () => {
    const page = '{ orders(first: 1, orderBy: { field: ID, direction: DESC }) { pageInfo { endCursor } } }';
    const cursor = String((await send(ann, page)).json.data?.orders?.pageInfo?.endCursor);
    const before = await send(
      ben,
      `{ orders(first: 10, after: "${cursor}", orderBy: { field: ID, direction: DESC }) { totalCount nodes { id } } }`,
    );
    const nodes = before.json.data?.orders?.nodes?.map(({ id }) => String(id)) ?? [];
    expect(nodes.filter((id) => !orders.ben.includes(id))).toEqual([]);
    const { link } = (await send(ann, 'GET /store/orders?limit=1')).headers;
    const [, next] = /<([^>]+)>; rel="next"/.exec(String(link)) ?? [];
    expect(listOf(await send(ben, `GET ${next?.replace('limit=1', 'limit=10')}`))).toEqual(orders.ben);
  });

  test('is in no filtered list, and in no count', async () => {
    const ids = JSON.stringify(orders.ann);
    const { json } = await send(
      ben,
      `{ byId: orders(filter: { ids: ${ids} }) { totalCount totalCountRelation nodes { id } }
        all: orders { totalCount } }`,
    );
    expect(json.data).toEqual({
      byId: { totalCount: 0, totalCountRelation: 'EQUAL', nodes: [] },
      all: { totalCount: orders.ben.length },
    });
    const query = orders.ann.map((id) => `id=${id}`).join('&');
    expect(listOf(await send(ben, `GET /store/orders?${query}`))).toEqual([]);
  });

  test('is no entity of a federated graph', async () => {
    const representations = [...orders.ann, ...orders.ben].map((id) => ({ __typename: 'Order', id }));
    const entities = async (headers: Headers) => {
      const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on Order { id owner } } }`;
      const { json } = await ask(subgraph, query, { headers, variables: { of: representations } });
      return json.data?._entities?.map((entity) => entity?.id ?? null);
    };
    expect(await entities(ann)).toEqual([...orders.ann, null, null, null]);
    expect(await entities(ben)).toEqual([null, null, null, ...orders.ben]);
    expect(await entities(ANONYMOUS)).toEqual(Array(6).fill(null));
    expect(await entities({})).toEqual([...orders.ann, ...orders.ben]);
  });
});

test("another user's idempotency key replays nothing, and tells nothing about the other payload", async () => {
  const headers = { 'idempotency-key': 'checkout' };
  const place = (who: Headers, quantity: number) => send(who, 'POST /store/orders', { headers, body: { quantity } });
  const first = await place(ann, 7);
  const [same, other] = [await place(ben, 7), await place(ben, 8)];
  expect([first.status, same.status]).toEqual([201, 201]);
  expect(same.headers['idempotent-replayed']).toBeUndefined();
  expect(same.json.id).not.toBe(first.json.id);
  // The mismatch is with Ben's own request.
  expect(other.code).toBe('IDEMPOTENCY_MISMATCH');
  const ownerOf = async (id: unknown) =>
    (await gateway.data(`{ order(id: ${id}) { owner } }`)).order?.owner as unknown as string;
  expect(await ownerOf(first.json.id)).not.toBe(await ownerOf(same.json.id));
  for (const { json } of [first, same]) await gateway.data(`mutation { cancelOrder(id: ${json.id}) { id } }`);
});

test('every rejected attempt is charged', async () => {
  const [hers] = orders.ann;
  const left = async () => Number((await send(ben, 'GET /rate_limit')).told.remaining);
  const before = await left();
  const attempts = [
    `GET /store/orders/${hers}`,
    `DELETE /store/orders/${hers}`,
    `mutation { cancelOrder(id: ${hers}) { id } }`,
    'GET /store/orders?owner=ann',
    'mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }',
    'POST /pets',
  ];
  for (const on of attempts) await send(ben, on, on.startsWith('POST') ? { body: {} } : {});
  expect(await left()).toBe(before - attempts.length);
});

describe('a token in a URL is no credential', () => {
  test.each([['access_token'], ['authorization'], ['token'], ['apiKey']])('as the parameter %s', async (name) => {
    const parameter = `${name}=${encodeURIComponent(await token('ann'))}`;
    const from = '198.51.100.3';
    const query = encodeURIComponent('{ viewer { user scopes } }');
    const graphql = await ask(gateway, `GET /graphql?query=${query}&${parameter}`, { headers: ANONYMOUS, from });
    expect(graphql.json.data).toEqual({ viewer: { user: null, scopes: ['READ'] } });
    const rest = await ask(gateway, `GET /store/orders?${parameter}`, { headers: ANONYMOUS, from });
    expect([rest.status, rest.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(rest.text).not.toContain('eyJ');
  });

  test('at an upgrade to WebSocket', async () => {
    const url = await gateway.listen();
    const socket = new WebSocket(
      `${url.replace('http', 'ws')}/graphql?access_token=${await token('ann')}`,
      GRAPHQL_TRANSPORT_WS_PROTOCOL,
    );
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    socket.send('{"type":"subscribe","id":"1","payload":{"query":"{ viewer { user } }"}}');
    const [message] = await once(socket, 'message');
    expect(JSON.parse(String(message)).payload.data).toEqual({ viewer: { user: null } });
    socket.terminate();
  });
});
