import { freePort } from './helper/free-port';
import { CAN_START_HAPROXY, HaProxy } from './helper/haproxy';
import { Load, outcomes } from './helper/load';
import { GatewayProcess } from './helper/process';
import { createProduction, onServers, type Production } from './helper/production';
import { mixed } from './helper/traffic';
import { until } from './helper/until';

const behindHaProxy = CAN_START_HAPROXY ? onServers : describe.skip;

behindHaProxy('two instances behind a load balancer', () => {
  let production: Production;
  let proxy: HaProxy;
  let ports: number[];
  const instances = new Map<number, GatewayProcess>();
  beforeAll(async () => {
    production = await createProduction();
    ports = [await freePort(), await freePort()];
    proxy = await HaProxy.toGateways(ports);
  });
  afterAll(async () => {
    await proxy.remove();
    await Promise.all([...instances.values()].map((instance) => instance.stop('SIGKILL')));
    await production.drop();
  });

  const start = async (port: number) => {
    const environment = { ...production.environment, PORT: String(port), SHUTDOWN_DELAY_MS: '500' };
    instances.set(port, await GatewayProcess.start(environment));
  };

  test('are both replaced under load, one after the other, without a failed request', async () => {
    const areReady = async () => (await fetch(`${proxy.url}/all-ready`)).ok;
    for (const port of ports) await start(port);
    await until(areReady, 20);
    const load = new Load(proxy.url, 8, mixed, 5);
    const serve = async () => {
      const before = load.tried.length;
      await until(async () => load.tried.length > before + 200, 20);
    };
    for (const port of ports) {
      await serve();
      expect(await instances.get(port)?.stop()).toMatchObject({ code: 0, stderr: '' });
      await start(port);
      await until(areReady, 20);
    }
    await serve();
    const tried = await load.stop();
    expect(Object.keys(outcomes(tried)).sort()).toEqual(['200', '201']);
    expect(tried.length).toBeGreaterThan(600);
  });
});
