import { Balancer } from './helper/balancer';
import { Load, outcomes } from './helper/load';
import { GatewayProcess } from './helper/process';
import { createProduction, onServers, type Production } from './helper/production';
import { mixed } from './helper/traffic';
import { until } from './helper/until';

onServers('two instances behind a load balancer', () => {
  let production: Production;
  let balancer: Balancer;
  let instances: GatewayProcess[] = [];
  beforeAll(async () => {
    production = await createProduction();
    balancer = await Balancer.start();
  });
  afterAll(async () => {
    balancer.close();
    await Promise.all(instances.map((instance) => instance.stop('SIGKILL')));
    await production.drop();
  });

  const start = async () => {
    const instance = await GatewayProcess.start({ ...production.environment, SHUTDOWN_DELAY_MS: '500' });
    instances.push(instance);
    balancer.add(instance.url);
  };

  test('are both replaced under load, one after the other, without a failed request', async () => {
    await Promise.all([start(), start()]);
    await until(async () => balancer.ready === 2);
    const load = new Load(balancer.url, 8, mixed, 5);
    for (const old of [...instances]) {
      const before = load.tried.length;
      await until(async () => load.tried.length > before + 50, 20);
      expect(await old.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      balancer.remove(old.url);
      instances = instances.filter((instance) => instance !== old);
      await start();
      await until(async () => balancer.ready === 2);
    }
    const before = load.tried.length;
    await until(async () => load.tried.length > before + 50, 20);
    const tried = await load.stop();
    expect(Object.keys(outcomes(tried)).sort()).toEqual(['200', '201']);
    expect(tried.length).toBeGreaterThan(150);
  });
});
