import { request } from 'node:http';
import { fillShop } from '../helper/database';
import { ADMIN_KEY, type Gateway, type Json, startGateway } from '../helper/gateway';
import { socketClient, streamClient } from '../helper/live';
import { PROXIES, type ProxyProgram, RunningProxy } from '../helper/proxies';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({ TRUST_PROXY: '1', ANONYMOUS_ACCESS: 'write' });
  url = await gateway.listen();
});
afterAll(() => gateway.close());

const KEY = { 'x-api-key': ADMIN_KEY };
const MB = 1_000_000;

/** A client of the gateway, or of a proxy in front of it. */
class Client {
  constructor(readonly base: string) {}

  async send(on: string, body?: unknown, headers: Record<string, string> = {}) {
    const [method, path] = on.split(' ', 2);
    const response = await fetch(`${this.base}${path}`, {
      ...{ method, headers: { ...KEY, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers } },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** @returns the parts of a response that must be the same behind a proxy. */
  async see(on: string, body?: unknown, headers?: Record<string, string>): Promise<unknown[]> {
    const response = await this.send(on, body, headers);
    const told = ['content-type', 'location', 'link', 'x-ratelimit-limit', 'access-control-allow-origin', 'allow'];
    const headersSeen = told.map((name) => [name, response.headers.get(name)]);
    return [
      on,
      response.status,
      Object.fromEntries(headersSeen),
      response.text.replace(/"(requestId|remaining)":("[^"]*"|\{[^}]*\})/g, ''),
    ];
  }

  graphql(query: string, variables?: object) {
    return this.see('POST /graphql', { query, variables });
  }
}

const DOG = '🐕'.repeat(255);
const rest = async (client: Client) => [
  await client.see('GET /pets?limit=2'),
  await client.see('GET /pets/1'),
  await client.see('HEAD /pets'),
  await client.see('GET /pets/77'),
  await client.see('GET /pets/a%20b'),
  await client.see('POST /pets', { name: '', categoryId: 1 }),
  await client.see('POST /categories', '{'),
  await client.see('PUT /pets', {}),
  await client.see('OPTIONS /pets', undefined, {
    origin: 'https://shop.example',
    'access-control-request-method': 'PUT',
  }),
  await client.see('GET /pets', undefined, { 'x-api-key': 'wrong' }),
];
const graphql = async (client: Client) => [
  await client.graphql('{ pets(first: 2) { nodes { id name } totalCount } }'),
  await client.graphql('{ colours }'),
  await client.graphql('query ($id: ID!) { pet(id: $id) { name } }', { id: '1' }),
  await client.graphql('mutation { updatePet(id: 77, input: {}) { id } }'),
  await client.see(`GET /graphql?${new URLSearchParams({ query: '{ pet(id: 1) { name } }' })}`),
];
const largeBodies = async (client: Client) => [
  await client.see('POST /pets', 'x'.repeat(MB)),
  await client.see('POST /graphql', 'x'.repeat(MB)),
  await client.see('POST /pets', 'x'.repeat(20 * MB)),
  await client.see('POST /graphql', 'x'.repeat(20 * MB)),
];

/** Changes a pet as docs/rest-clients.md shows. @returns the statuses. */
async function update(client: Client): Promise<number[]> {
  const read = await client.send('GET /pets/1');
  const etag = String(read.headers.get('etag'));
  const { status: unchanged } = await client.send('GET /pets/1', undefined, { 'if-none-match': etag });
  const change = (body: object) => client.send('PATCH /pets/1', body, { 'if-match': etag });
  const statuses = [await change({ status: 'sold' }), await change({ status: 'pending' })].map(({ status }) => status);
  return [read.status, unchanged, ...statuses];
}

/** @returns what a subscriber receives after a change. */
async function live(client: Client, isStream: boolean): Promise<string[]> {
  const subscriber = isStream ? streamClient(client.base, KEY) : socketClient(client.base, {}, KEY);
  const received = subscriber.subscribe('subscription { petChanged { kind petId } }');
  // A subscriber gets only the changes after its start, which it cannot see.
  const timer = setInterval(() => void gateway.app.inject({ method: 'PATCH', url: '/pets/1', payload: {} }), 50);
  try {
    await received.until(2);
    return received.said.slice(0, 2);
  } finally {
    clearInterval(timer);
    received.stop();
    subscriber.close();
  }
}

/** @returns the requests left of the caller with this address. */
function left(base: string, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(`${base}/pets`, { localAddress }, (response) => {
      response.resume();
      resolve(Number(response.headers['x-ratelimit-remaining']));
    })
      .on('error', reject)
      .end();
  });
}

const VARIANTS = ['documented', 'minimal'] as const;
/** nginx's own limits, unless they are set. */
const isLimited = ({ name }: ProxyProgram, variant: string) => name === 'nginx' && variant === 'minimal';

describe.each(PROXIES)('behind $name', (program) => {
  const maybe = program.binary ? describe : describe.skip;

  maybe.each(VARIANTS.flatMap((variant) => [false, true].map((isCompressed) => [variant, isCompressed] as const)))(
    'with its %s configuration (compression: %s)',
    (variant, isCompressed) => {
      let proxy: RunningProxy;
      let client: Client;
      const direct = () => new Client(url);
      beforeAll(async () => {
        const section = program[variant];
        proxy = await RunningProxy.start(program, isCompressed ? program.compressed(section) : section, url);
        client = new Client(proxy.url);
      });
      beforeEach(() => fillShop(gateway.database));
      afterAll(() => proxy.close());

      test('REST and GraphQL give the same answers', async () => {
        expect(await rest(client)).toEqual(await rest(direct()));
        expect(await graphql(client)).toEqual(await graphql(direct()));
      });

      test('the response is compressed only if the proxy compresses', async () => {
        // Proxies do not compress short responses.
        for (const name of [DOG, DOG])
          await gateway.data(`mutation { createPet(input: { name: "${name}", categoryId: 1 }) { id } }`);
        const { headers } = await client.send('GET /pets', undefined, { 'accept-encoding': 'gzip' });
        expect(headers.get('content-encoding')).toBe(isCompressed ? 'gzip' : null);
      });

      test('reads are not repeated, and exactly one of two updates succeeds', async () => {
        expect(await update(client)).toEqual([200, 304, 200, 412]);
      });

      test('event streams deliver events', async () => {
        expect(await live(client, true)).toEqual(['UPDATED 1', 'UPDATED 1']);
      });

      test('the response to a large body arrives', async () => {
        const [seen, expected] = [await largeBodies(client), await largeBodies(direct())];
        expect(seen.map(([, status]) => status)).toEqual([413, 413, 413, 413]);
        if (!isLimited(program, variant)) expect(seen).toEqual(expected);
        else expect(seen.slice(0, 2)).toEqual(expected.slice(0, 2));
      });

      if (variant === 'documented') {
        test('WebSockets deliver events', async () => {
          expect(await live(client, false)).toEqual(['UPDATED 1', 'UPDATED 1']);
        });

        test('a long link to the next page arrives', async () => {
          for (const name of [DOG, DOG])
            await gateway.data(`mutation { createPet(input: { name: "${name}", categoryId: 1 }) { id } }`);
          const page = `/pets?limit=1&name=${encodeURIComponent(DOG)}`;
          const { status, headers } = await client.send(`GET ${page}`);
          const [, next = ''] = /<(.*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
          expect([status, next.length > 3077]).toEqual([200, true]);
          const { text } = await client.send(`GET ${next}`);
          expect((JSON.parse(text) as Json[]).map(({ name }) => name)).toEqual([DOG]);
        });
      }
    },
  );

  maybe.each(['1', '127.0.0.1', '127.0.0.0/8', '10.0.0.0/8, 127.0.0.1'])('with TRUST_PROXY=%s', (TRUST_PROXY) => {
    test('each client has its own quota', async () => {
      const trusting = await gateway.another({ TRUST_PROXY });
      const proxy = await RunningProxy.start(program, program.documented, await trusting.listen());
      const of = (address: string) => left(proxy.url, address);
      expect([await of('127.0.0.2'), await of('127.0.0.2'), await of('127.0.0.3')]).toEqual([59, 58, 59]);
      await proxy.close();
      await trusting.close();
    });
  });

  maybe('without TRUST_PROXY', () => {
    test('all clients share the quota of the proxy', async () => {
      const plain = await gateway.another({});
      const proxy = await RunningProxy.start(program, program.documented, await plain.listen());
      const of = (address: string) => left(proxy.url, address);
      expect([await of('127.0.0.2'), await of('127.0.0.3')]).toEqual([59, 58]);
      await proxy.close();
      await plain.close();
    });
  });
});
