import { statement } from '../../src/database/statement';
import { IdentityProvider } from '../access/identity-provider';
import { everyRow, fillShop, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { socketClient } from '../helper/live';
import { until } from '../helper/until';
import { ask, type Headers } from '../http/client';

let provider: IdentityProvider;
let gateway: Gateway;
beforeAll(async () => {
  provider = await IdentityProvider.start();
  gateway = await startGateway({
    ANONYMOUS_ACCESS: 'write',
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: 'shop',
    BAN_AFTER: '1',
  });
});
beforeEach(async () => {
  await fillShop(gateway.database);
  await gateway.database.serviceSession().query(statement('delete from events'), []);
});
afterAll(async () => {
  await gateway.close();
  await provider.stop();
});

interface Row {
  readonly id: bigint;
  readonly at: Date;
  readonly said: string;
  readonly requestId: string | null;
  readonly actor: string | null;
  readonly owner: string | null;
}

const recorded = () =>
  gateway.database.serviceSession().query<Row>(
    statement(`select id, at, topic || ' ' || kind || ' ' || object_id as said, request_id as "requestId", actor, owner
      from events order by id`),
    [],
  );
const said = async () => (await recorded()).map((row) => row.said);
const last = async () => (await recorded()).at(-1);

const CREATE = 'mutation { createPet(input: { name: "Mia", categoryId: 1 }) { id } }';
const PLACE = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';

describe('an event tells', () => {
  test('who has made the change: the id of a key or a user, and nothing for anonymous callers', async () => {
    const key = await gateway.createKey();
    const token = { 'x-api-key': undefined, authorization: `Bearer ${await provider.sign()}` };
    const viewer = await ask(gateway, '{ viewer { callerId } }', { headers: token });
    const user = String(viewer.json.data?.viewer?.callerId);
    const actorOf = async (on: string, headers: Headers) => {
      expect((await ask(gateway, on, { headers })).error).toBeUndefined();
      const row = await last();
      return [row?.actor, row?.owner];
    };
    expect(await actorOf(CREATE, key.headers)).toEqual([key.id, null]);
    expect(await actorOf('mutation { updatePet(id: 1, input: {}) { id } }', key.headers)).toEqual([key.id, null]);
    expect(await actorOf(CREATE, { 'x-api-key': undefined })).toEqual([null, null]);
    await ask(gateway, PLACE, { headers: token });
    const [, order, stock] = (await recorded()).slice(-3);
    expect([order?.actor, order?.owner]).toEqual([user, user]);
    expect([stock?.said, stock?.actor, stock?.owner]).toEqual(['inventory UPDATED 1', user, null]);
  });

  test('the request that has made the change, over HTTP and WebSocket', async () => {
    await ask(gateway, 'POST /pets', { body: { name: 'Mia', categoryId: 1 }, headers: { 'x-request-id': 'mine-1' } });
    expect((await last())?.requestId).toBe('mine-1');
    await ask(gateway, 'DELETE /pets/3', { headers: { 'x-request-id': 'mine-2' } });
    expect((await last())?.requestId).toBe('mine-2');
    const client = socketClient(await gateway.listen());
    await client.subscribe(CREATE).until(1);
    client.close();
    expect((await last())?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('of an order its owner, even if another caller changes it', async () => {
    const token = { 'x-api-key': undefined, authorization: `Bearer ${await provider.sign({ sub: 'ben' })}` };
    const { json } = await ask(gateway, PLACE, { headers: token });
    const id = json.data?.placeOrder?.id;
    const owner = (await recorded())[0]?.owner;
    expect(owner).toMatch(/^user:/);
    await gateway.data(
      `mutation { a: updateOrder(id: ${id}, input: { quantity: 2 }) { id } b: cancelOrder(id: ${id}) { id } }`,
    );
    const orders = (await recorded()).filter((row) => row.said.startsWith('order'));
    expect(orders.map((row) => row.owner)).toEqual([owner, owner, owner]);
  });
});

test('key administration is recorded, and a ban that is lifted', async () => {
  const { id, headers } = await gateway.createKey({ scopes: ['WRITE'] });
  await gateway.data(`mutation { updateApiKey(id: "${id}", input: { name: "new" }) { id } }`);
  await gateway.graphql(`mutation { rotateApiKey(id: "${id}") { secret } }`, {}, headers);
  await gateway.data(`mutation { revokeApiKey(id: "${id}") { id } }`);
  await gateway.graphql(`mutation { updateApiKey(id: "unknownkey00", input: { name: "new" }) { id } }`);
  const administration = ['CREATED', 'UPDATED', 'ROTATED', 'REVOKED'].map((kind) => `api_key ${kind} ${id}`);
  expect(await said()).toEqual(administration);
  expect((await recorded()).map(({ actor }) => actor)).toEqual(['testadmin000', 'testadmin000', id, 'testadmin000']);

  const address = '192.0.2.77';
  const lift = async () => (await gateway.data(`mutation { liftBan(caller: "${address}") }`)).liftBan;
  expect(await lift()).toBe(false);
  const anonymous = { headers: { 'x-api-key': undefined }, from: address };
  await until(async () => (await ask(gateway, 'GET /pets', anonymous)).code === 'KEY_BANNED');
  expect(await lift()).toBe(true);
  expect(await said()).toEqual([...administration, `api_key BAN_LIFTED ${address}`]);
});

describe('with an idempotency key', () => {
  const create = (key: string, categoryId: number) =>
    ask(gateway, 'POST /pets', { body: { name: 'Mia', categoryId }, headers: { 'idempotency-key': key } });

  test('a replay records nothing', async () => {
    const key = String(Math.random());
    expect((await create(key, 1)).status).toBe(201);
    const before = await everyRow(gateway.database);
    expect((await create(key, 1)).headers['idempotent-replayed']).toBe('true');
    expect([await said(), await everyRow(gateway.database)]).toEqual([['pet CREATED 4'], before]);
  });

  test('a change that is rolled back records nothing', async () => {
    expect((await create(String(Math.random()), 99)).status).toBe(422);
    expect(await said()).toEqual([]);
  });
});

test('a transaction that cannot write its events is rolled back, and reports why', async () => {
  const { database } = gateway;
  const code = (work: Promise<unknown>) => work.then(String, (error) => error.code);
  await database
    .serviceSession()
    .query(statement(`alter table events add constraint refused check (topic <> 'pet')`), []);
  const changed = database.serviceSession().transaction(async (tx) => {
    await tx.query(statement(`update pets set name = 'Max' where id = 1`), []);
    tx.publishOnCommit({ topic: 'pet', kind: 'UPDATED', id: 1n });
  });
  expect(await code(changed)).toBe('23514');
  expect((await gateway.graphql(CREATE)).errors[0]?.extensions?.code).toBe('INTERNAL_SERVER_ERROR');
  await database.serviceSession().query(statement('alter table events drop constraint refused'), []);
  const { pets } = await gateway.data('{ pets { nodes { name } } }');
  expect(pets?.nodes).toEqual([{ name: 'Rex' }, { name: 'Bello' }, { name: 'Tom' }]);
  // The connection is usable afterwards.
  await gateway.data('mutation { updatePet(id: 1, input: { name: "Max" }) { id } }');
  expect(await said()).toEqual(['pet UPDATED 1']);
});

const onPostgres = TEST_DATABASE_URL ? test : test.skip;
onPostgres('the events of an object have ids in the order of its changes', async () => {
  const work = Array.from({ length: 40 }, (_, i) =>
    gateway.data(`mutation { updatePet(id: 1, input: { name: "${i}" }) { updatedAt } }`),
  );
  const times = (await Promise.all(work)).map((data) => Date.parse(String(data.updatePet?.updatedAt))).sort();
  const rows = await recorded();
  expect(rows).toHaveLength(40);
  for (const [i, { at }] of rows.entries()) expect(at.getTime()).toBeGreaterThanOrEqual(times[i] as number);
});
