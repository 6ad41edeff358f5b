import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { type Received, socketClient, streamClient } from '../helper/live';
import { GatewayProcess } from '../helper/process';
import { until } from '../helper/until';
import { REDIS_URLS } from '../rate-limit/stores';

const [REDIS_URL] = REDIS_URLS;
const onServers = TEST_DATABASE_URL && REDIS_URL ? test : test.skip;

onServers('a subscriber on one instance gets what another has committed, once', async () => {
  const { url = '', drop } = await createDatabase();
  const environment = { DATABASE_URL: url, REDIS_URL: String(REDIS_URL), ADMIN_API_KEY: ADMIN_KEY };
  const one = await GatewayProcess.start(environment);
  const other = await GatewayProcess.start(environment);
  const key = { 'x-api-key': ADMIN_KEY };
  const clients = [socketClient(one.url, key), streamClient(one.url, key), socketClient(other.url, key)];
  const received: Received[] = clients.map((client) =>
    client.subscribe('subscription { petChanged { kind petId pet { name category { name } } } }'),
  );
  const subscriptions = async (gateway: GatewayProcess) =>
    /^petstore_subscriptions (\d)$/m.exec(await gateway.metrics())?.[1];
  await until(async () => (await subscriptions(one)) === '2' && (await subscriptions(other)) === '1');

  await other.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', key);
  await other.graphql('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }', key);
  await one.graphql('mutation { updatePet(id: 1, input: { name: "Max" }) { id } }', key);
  await Promise.all(received.map((each) => until(async () => each.answers.length === 2)));
  await other.graphql('mutation { deletePet(id: 1) { id } }', key);
  for (const each of received) {
    await each.until(3);
    expect(each.said).toEqual(['CREATED 1', 'UPDATED 1', 'DELETED 1']);
    expect(each.answers.at(-1)?.data?.petChanged?.pet).toEqual({ name: 'Max', category: { name: 'Dogs' } });
  }
  for (const client of clients) client.close();
  await one.stop();
  await other.stop();
  for (const each of received) expect(each.answers).toHaveLength(3);
  await drop();
});

onServers('so does one served by a different worker of the same instance', async () => {
  const { url = '', drop } = await createDatabase();
  const environment = { DATABASE_URL: url, REDIS_URL: String(REDIS_URL), ADMIN_API_KEY: ADMIN_KEY };
  const gateway = await GatewayProcess.start({ ...environment, WEB_CONCURRENCY: '2', METRICS_PORT: '0' });
  const key = { 'x-api-key': ADMIN_KEY };
  const clients = Array.from({ length: 8 }, () => socketClient(gateway.url, key));
  const received = clients.map((client) => client.subscribe('subscription { petChanged { kind petId } }'));
  await until(async () => (await gateway.metrics()).includes('\npetstore_subscriptions 8\n'));
  await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', key);
  await gateway.graphql('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }', key);
  await gateway.graphql('mutation { deletePet(id: 1) { id } }', key);
  for (const each of received) {
    await until(async () => each.said.at(-1) === 'DELETED 1');
    // A row deleted right away may be announced by the deletion alone.
    expect(each.said.filter((said) => said !== 'CREATED 1')).toEqual(['DELETED 1']);
  }
  expect(await gateway.stop()).toMatchObject({ code: 0 });
  for (const each of received) expect((await each.untilOver()).error).toMatchObject({ code: 1001 });
  for (const client of clients) client.close();
  await drop();
});
