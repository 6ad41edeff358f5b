import { freePort } from '../helper/free-port';
import { CAN_START_HAPROXY, HaProxy } from '../helper/haproxy';
import { Load, outcomes } from '../helper/load';
import { GatewayProcess } from '../helper/process';
import { createProduction, onServers } from '../helper/production';
import { mixed } from '../helper/traffic';
import { until } from '../helper/until';

const behindHaProxy = CAN_START_HAPROXY ? onServers : describe.skip;

behindHaProxy('behind a load balancer,', () => {
  test('two instances are replaced under load, one after the other, without a failed request', async () => {
    const production = await createProduction();
    const ports = [await freePort(), await freePort()];
    const proxy = await HaProxy.start([
      'mode http',
      'balance roundrobin',
      'option httpchk GET /readyz',
      'default-server inter 100ms fall 1 rise 1',
      'timeout check 2s',
      // If HAProxy cannot connect to one gateway, it tries the other gateway.
      'option redispatch 1',
      'monitor-uri /all-ready',
      `monitor fail if { nbsrv lt ${ports.length} }`,
      ...ports.map((port, i) => `server s${i} 127.0.0.1:${port} check`),
    ]);
    const url = `http://${proxy.host}`;
    const areReady = async () => (await fetch(`${url}/all-ready`)).ok;
    const instances = new Map<number, GatewayProcess>();
    const start = async (port: number) => {
      const environment = { ...production.environment, PORT: String(port), SHUTDOWN_DELAY_MS: '500' };
      instances.set(port, await GatewayProcess.start(environment));
    };
    try {
      for (const port of ports) await start(port);
      await until(areReady, 20);
      const load = new Load(url, 8, mixed, 5);
      const served = (before: number) => until(() => load.tried.length > before + 200, 20);
      for (const port of ports) {
        await served(load.tried.length);
        expect(await instances.get(port)?.stop()).toMatchObject({ code: 0, stderr: '' });
        await start(port);
        await until(areReady, 20);
      }
      await served(load.tried.length);
      const tried = await load.stop();
      expect(Object.keys(outcomes(tried)).sort()).toEqual(['200', '201']);
    } finally {
      await proxy.remove();
      await Promise.all([...instances.values()].map((instance) => instance.stop('SIGKILL')));
      await production.drop();
    }
  });
});
