import { Client } from 'pg';
import { type Answer, type Net, pause, type Scenario, send, until } from '../scenario';
import { ADMIN_KEY } from '../server';

/** Runs `use` with a second connection to the gateway's database. */
async function connected<Result>(net: Net, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: net.server.databaseUrl });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** The number of responses with each outcome: `10 x 201, 30 x 409 INSUFFICIENT_STOCK`. */
function counted(answers: readonly Answer[]): string {
  const outcomes = answers.map(({ status, json }) => {
    const code = json?.errors?.[0].extensions.code ?? json?.code;
    return code ? `${status} ${code}` : String(status);
  });
  const sorted = [...new Set(outcomes)].sort();
  return sorted.map((outcome) => `${outcomes.filter((each) => each === outcome).length} x ${outcome}`).join(', ');
}

const times = <Result>(count: number, act: (i: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => act(i)));

const ORDER = { petId: 1, quantity: 1 };
const PLACE = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';
const BOTH = `mutation {
  placeOrder(input: { petId: 1, quantity: 1 }) { id }
  createCategory(input: { name: "Birds" }) { id }
}`;
const GENEROUS = { plan: 'ENTERPRISE', perMinute: 100_000, perDay: 100_000 };

/** Creates pet 1 in category 1, with this stock. */
async function onePet(net: Net, quantity: number): Promise<void> {
  await net.prepare('mutation { createCategory(input: { name: "Fish" }) { id } }');
  await net.prepare('mutation { createPet(input: { name: "Nemo", categoryId: 1 }) { id } }');
  await net.prepare('mutation ($quantity: Int!) { setInventory(petId: 1, input: { quantity: $quantity }) { petId } }', {
    quantity,
  });
}

export const scenarios: Scenario[] = [
  {
    name: 'operation deadlines',
    only: 'postgres',
    // The timeout also applies to SQL statements at startup, which take seconds on a busy machine.
    settings: { REQUEST_TIMEOUT_MS: '5000' },
    run: (net) =>
      connected(net, async (client) => {
        await onePet(net, 10);
        await net.exchange('POST', '/graphql', { body: { query: '{ pet(id: 1) { inventory { quantity } } }' } });
        await client.query('begin');
        await client.query('select from inventory for update');
        await net.graphql(PLACE);
        await net.rest('PUT /store/inventory/1', { body: { quantity: 3 } });
        const [order, two] = await Promise.all([
          net.exchange('POST', '/store/orders', { body: ORDER, headers: { 'idempotency-key': 'order-1' } }),
          net.exchange('POST', '/graphql', { body: { query: BOTH } }),
        ]);
        net.note(
          'an order with an idempotency key',
          `${counted([order])}, with Retry-After: ${'retry-after' in order.headers}`,
        );
        net.note(BOTH, `${counted([two])} ${JSON.stringify(two.json.data)}`);
        const socket = await net.socket();
        socket.send({ type: 'connection_init' });
        await socket.record('connection_init', 1);
        socket.send({ id: '1', type: 'subscribe', payload: { query: PLACE } });
        await socket.record('an order on a locked stock', 2);
        socket.close();
        await net.rest('GET /store/inventory/1', { title: 'reads do not wait' });
        await net.rest('POST /categories', { body: { name: 'Cats' }, title: 'other writes do not wait' });
        await client.query('rollback');
        // A write that was only delayed, and not cancelled, would run now.
        await pause(300);
        await net.graphql(
          '{ inventoryItem(petId: 1) { quantity } orders { totalCount } categories { nodes { name } } }',
        );
        await net.rest('POST /store/orders', {
          body: ORDER,
          headers: { 'idempotency-key': 'order-1' },
          title: 'the idempotency key of an order that was not placed',
        });
        await client.query('begin');
        await client.query('select from pets for update');
        await net.rest('DELETE /pets/1');
        await net.rest('GET /pets/1');
        await client.query('rollback');
        await net.rest('PATCH /pets/1', { body: { name: 'Dory' } });
      }),
  },
  {
    name: 'operation races',
    only: 'postgres',
    run: async (net) => {
      await onePet(net, 10);
      const orders = await times(40, () => net.exchange('POST', '/store/orders', { body: ORDER }));
      net.note('40 orders at once on a stock of 10', counted(orders));
      await net.graphql('{ inventoryItem(petId: 1) { quantity } orders { totalCount } }');
      const ids = orders.filter(({ status }) => status === 201).map(({ json }) => json.id);
      const cancelled = await Promise.all([...ids, ...ids].map((id) => net.exchange('DELETE', `/store/orders/${id}`)));
      net.note('each order cancelled twice at once', counted(cancelled));
      await net.graphql('{ inventoryItem(petId: 1) { quantity } orders { totalCount } }');

      const { etag } = (await net.exchange('GET', '/pets/1')).headers;
      const renamed = await times(20, (i) => net.exchange('PATCH', '/pets/1', { body: { name: `Name ${i}` } }));
      const { json } = await net.exchange('GET', '/pets/1');
      net.note(
        '20 updates of a pet at once',
        `${counted(renamed)}; one of the names is stored: ${/^Name /.test(json.name)}`,
      );
      net.note(
        'the tag from before',
        counted([
          await net.exchange('PATCH', '/pets/1', { body: { name: 'Late' }, headers: { 'if-match': String(etag) } }),
        ]),
      );
      const now = (await net.exchange('GET', '/pets/1')).headers.etag;
      const matched = await times(10, (i) =>
        net.exchange('PATCH', '/pets/1', { body: { name: `Tagged ${i}` }, headers: { 'if-match': String(now) } }),
      );
      net.note('10 updates at once with the same If-Match', counted(matched));

      const headers = { 'idempotency-key': 'once' };
      const once = await times(20, () => net.exchange('POST', '/categories', { body: { name: 'Once' }, headers }));
      const isReplay = ({ headers: { 'idempotent-replayed': replayed } }: Answer) => replayed === 'true';
      const created = once.filter((answer) => answer.status === 201 && !isReplay(answer));
      const others = once.filter((answer) => !created.includes(answer));
      const areExpected = others.every(
        (answer) => (answer.status === 201 && isReplay(answer)) || answer.json.code === 'IDEMPOTENCY_IN_PROGRESS',
      );
      net.note(
        '20 requests at once with one idempotency key',
        `created: ${created.length}, the others replayed or refused as in progress: ${areExpected}`,
      );
      await net.graphql('{ categories(filter: { name: "Once" }) { totalCount } }');
      await net.rest('POST /categories', { body: { name: 'Once' }, headers, title: 'afterwards' });

      const ends = await Promise.all([
        net.exchange('DELETE', '/pets/1'),
        ...Array.from({ length: 5 }, () => net.exchange('POST', '/store/orders', { body: ORDER })),
      ]);
      const isDeleted = ends[0]?.status === 204;
      const { pet, orders: left } = await net.prepare('{ pet(id: 1) { id } orders { totalCount } }');
      const count = (left as { totalCount: number }).totalCount;
      net.note(
        'a pet deleted while it is ordered',
        `either the orders or the deletion: ${isDeleted ? pet === null && count === 0 : pet !== null && count > 0}`,
      );
      const removed = await times(5, () => net.exchange('DELETE', '/categories/2'));
      net.note('a category deleted five times at once', counted(removed));
    },
  },
  {
    name: 'operation overload',
    only: 'postgres',
    settings: { MAX_REQUESTS_IN_PROGRESS: '64', REQUEST_TIMEOUT_MS: '60000' },
    run: (net) =>
      connected(net, async (client) => {
        await onePet(net, 1000);
        const greedy = await net.key('greedy', GENEROUS);
        const modest = await net.key('modest', GENEROUS);
        for (const as of [greedy, modest]) await net.exchange('GET', '/rate_limit', { as });
        await client.query('begin');
        await client.query('select from inventory for update');
        let answered = 0;
        const orders = times(60, async () => {
          const answer = await net.exchange('POST', '/store/orders', { as: greedy, body: ORDER });
          answered++;
          return answer;
        });
        await until(() => answered >= 12);
        await net.rest('GET /pets/1', { as: modest });
        await net.graphql('{ pets { nodes { name } } }', undefined, { as: modest });
        await net.rest('POST /categories', { as: modest, body: { name: 'Cats' } });
        await net.rest('GET /livez', { as: net.anonymous(1) });
        await net.rest('GET /readyz', { as: net.anonymous(1) });
        await client.query('rollback');
        const answers = await orders;
        const refused = answers.filter(({ status }) => status === 429);
        const served = answers.filter(({ status }) => status === 201);
        const forms = refused.map(
          ({ json, headers }) => `${json.code} ${json.status}, retry after ${headers['retry-after']}`,
        );
        net.note(
          '60 orders at once on a locked stock, with 64 requests in progress at most',
          [
            `some were refused: ${refused.length > 0}, as ${[...new Set(forms)]}`,
            `some were served after that: ${served.length > 0}`,
            `others: ${answers.length - refused.length - served.length}`,
          ].join('\n'),
        );
        const { inventoryItem } = await net.prepare('{ inventoryItem(petId: 1) { quantity } }');
        const { quantity } = inventoryItem as { quantity: number };
        net.note('each accepted order has taken one unit', { isRight: quantity === 1000 - served.length });
        net.note('a rejected caller is not banned', counted([await net.exchange('GET', '/pets/1', { as: greedy })]));
      }),
  },
  {
    name: 'operation two instances',
    only: 'postgres',
    redis: true,
    settings: { BAN_AFTER: '15', BAN_SECONDS: '3600' },
    run: async (net) => {
      const other = await net.server.another();
      try {
        const origins = [net.url, other.url];
        await onePet(net, 10);
        await net.rest('GET /readyz', { as: net.anonymous(1) });
        const shared = await net.key('shared', { plan: 'ENTERPRISE', perMinute: 10, perDay: 100 });
        const answers = await times(20, (i) => send(String(origins[i % 2]), 'GET', '/pets', { as: shared }));
        net.note('20 requests at once to two instances, of which ten are allowed', counted(answers));
        await net.rest('GET /rate_limit', { as: shared });

        const banned = await net.key('banned', { plan: 'ENTERPRISE', perMinute: 1, perDay: 100 });
        const ask = (origin: string) => send(origin, 'GET', '/pets', { as: banned });
        for (let i = 0; i < 16; i++) await ask(net.url);
        const lines = [`here: ${counted([await ask(net.url)])}`, `there: ${counted([await ask(other.url)])}`];
        const lift = {
          query: 'mutation ($caller: String!) { liftBan(caller: $caller) }',
          variables: { caller: banned.id },
        };
        const lifted = await send(other.url, 'POST', '/graphql', { body: lift });
        lines.push(`lifted there: ${lifted.json.data.liftBan}`, `then here: ${counted([await ask(net.url)])}`);
        net.note('a ban', lines.join('\n'));

        const ending = await net.key('ending');
        const there = () => send(other.url, 'GET', '/rate_limit', { as: ending });
        const before = (await there()).status;
        await net.prepare('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: ending.id });
        await until(async () => (await there()).status === 401);
        net.note('a key revoked here, used there', `${before}, then ${counted([await there()])}`);

        const rotated = await net.key('rotated');
        await send(other.url, 'GET', '/rate_limit', { as: rotated });
        const { rotateApiKey } = (await net.prepare('mutation ($id: ID!) { rotateApiKey(id: $id) { secret } }', {
          id: rotated.id,
        })) as { rotateApiKey: { secret: string } };
        const fresh = { name: 'fresh', headers: { 'x-api-key': rotateApiKey.secret } };
        net.note(
          'a secret made here, used there at once',
          counted([await send(other.url, 'GET', '/rate_limit', { as: fresh })]),
        );

        const socket = await net.socket();
        socket.send({ type: 'connection_init' });
        await socket.record('connection_init', 1);
        const query = 'subscription { petChanged { kind petId pet { name } } }';
        socket.send({ id: '1', type: 'subscribe', payload: { query } });
        await until(async () => {
          const { text } = await net.exchange('GET', '/metrics', { headers: { 'x-forwarded-for': '203.0.113.9' } });
          return text.includes('\npetstore_subscriptions 1\n');
        });
        await send(other.url, 'PATCH', '/pets/1', { body: { name: 'Dory' } });
        await socket.record('a change made on the other instance', 1);
        await send(other.url, 'POST', '/pets', { body: { name: 'Marlin', categoryId: 1 } });
        await socket.record('a pet created there', 1);
        socket.close();

        const headers = { 'idempotency-key': 'both' };
        const twice = await times(2, (i) =>
          send(String(origins[i]), 'POST', '/categories', { body: { name: 'Both' }, headers }),
        );
        const again = await send(other.url, 'POST', '/categories', { body: { name: 'Both' }, headers });
        const { 'idempotent-replayed': replayed } = again.headers;
        const created = twice.filter((answer) => answer.status === 201 && !answer.headers['idempotent-replayed']);
        net.note(
          'one idempotency key on both',
          `created: ${created.length}, later replayed: ${again.status} ${replayed}`,
        );
        await net.graphql('{ categories(filter: { name: "Both" }) { totalCount } }');
      } finally {
        await other.drop();
      }
    },
  },
  {
    name: 'operation stopped while an order waits',
    only: 'postgres',
    run: (net) =>
      connected(net, async (client) => {
        await onePet(net, 10);
        await client.query('begin');
        await client.query('select from inventory for update');
        const order = net.exchange('POST', '/store/orders', { body: ORDER });
        await connected(net, async (observer) => {
          const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
          await until(async () => (await observer.query(waiting)).rowCount === 1);
        });
        const stopped = net.server.stop('SIGTERM');
        await until(() =>
          fetch(`${net.url}/livez`).then(
            () => false,
            () => true,
          ),
        );
        await client.query('rollback');
        const answer = await order;
        net.note('an order that waits for a lock at SIGTERM', `${counted([answer])}, exit code ${await stopped}`);
        await net.server.restart();
        const as = { name: 'admin, on the next start', headers: { 'x-api-key': ADMIN_KEY } };
        await net.graphql('{ inventoryItem(petId: 1) { quantity } orders { totalCount } }', undefined, { as });
      }),
  },
];
