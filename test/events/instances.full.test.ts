import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { type Subscriber, socketClient, streamClient } from '../helper/live';
import { GatewayProcess } from '../helper/process';
import { until } from '../helper/until';
import { HAS_REDIS, openRedis } from '../redis/server';

const onServers = TEST_DATABASE_URL && HAS_REDIS ? describe : describe.skip;
const KEY = { 'x-api-key': ADMIN_KEY };

onServers('a subscriber gets every committed change', () => {
  let environment: Record<string, string>;
  let close: () => Promise<unknown>;
  beforeEach(async () => {
    const [database, redis] = await Promise.all([createDatabase(), openRedis()]);
    environment = { DATABASE_URL: String(database.url), REDIS_URL: redis.url, ADMIN_API_KEY: ADMIN_KEY };
    close = () => Promise.all([database.drop(), redis.close()]);
  });
  afterEach(() => close());

  const subscribe = (clients: Subscriber[]) =>
    clients.map((client) =>
      client.subscribe('subscription { petChanged { kind petId pet { name category { name } } } }'),
    );
  const untilRunning = (gateway: GatewayProcess, count: number) =>
    until(async () => (await gateway.metrics()).includes(`\npetstore_subscriptions ${count}\n`));
  const createRex = async (gateway: GatewayProcess) => {
    await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', KEY);
    await gateway.graphql('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }', KEY);
  };

  test('of other instances, exactly once', async () => {
    const [one, other] = [await GatewayProcess.start(environment), await GatewayProcess.start(environment)];
    const clients = [socketClient(one.url, KEY), streamClient(one.url, KEY), socketClient(other.url, KEY)];
    const received = subscribe(clients);
    await Promise.all([untilRunning(one, 2), untilRunning(other, 1)]);
    await createRex(other);
    await one.graphql('mutation { updatePet(id: 1, input: { name: "Max" }) { id } }', KEY);
    await Promise.all(received.map((each) => each.until(2)));
    await other.graphql('mutation { deletePet(id: 1) { id } }', KEY);
    for (const each of received) {
      await each.until(3);
      expect(each.said).toEqual(['CREATED 1', 'UPDATED 1', 'DELETED 1']);
      expect(each.answers.at(-1)?.data?.petChanged?.pet).toEqual({ name: 'Max', category: { name: 'Dogs' } });
    }
    for (const client of clients) client.close();
    await Promise.all([one.stop(), other.stop()]);
    for (const each of received) expect(each.answers).toHaveLength(3);
  });

  test('of other workers of the same instance, until the instance stops', async () => {
    const gateway = await GatewayProcess.start({ ...environment, WEB_CONCURRENCY: '2', METRICS_PORT: '0' });
    const clients = Array.from({ length: 8 }, () => socketClient(gateway.url, KEY));
    const received = subscribe(clients);
    await untilRunning(gateway, 8);
    await createRex(gateway);
    await gateway.graphql('mutation { deletePet(id: 1) { id } }', KEY);
    for (const each of received) {
      await until(async () => each.said.at(-1) === 'DELETED 1');
      // If a row is deleted before the gateway has read it, only the deletion is published.
      expect(each.said.filter((said) => said !== 'CREATED 1')).toEqual(['DELETED 1']);
    }
    expect(await gateway.stop()).toMatchObject({ code: 0 });
    for (const each of received) expect((await each.untilOver()).error).toMatchObject({ code: 1001 });
    for (const client of clients) client.close();
  });
});
