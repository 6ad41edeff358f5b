import { bothOf, expectService, failOver, type Pair, startPair } from '../helper/failover';
import { CAN_START_HAPROXY, HaProxy } from '../helper/haproxy';
import { CAN_START_POSTGRES } from '../helper/postgres-server';
import { TcpProxy } from '../helper/tcp-proxy';

const onServers = CAN_START_POSTGRES ? describe : describe.skip;

onServers(
  'when the standby is promoted under 60 writes a second, nothing that was acknowledged is lost or doubled',
  () => {
    let pair: Pair;
    let between: { remove(): Promise<void> } | undefined;
    beforeEach(async () => {
      pair = await startPair();
    });
    afterEach(async () => {
      await between?.remove();
      between = undefined;
      await pair.remove();
    });

    const crash = () => pair.primary.stop('SIGQUIT');

    const withHaProxy = CAN_START_HAPROXY ? test : test.skip;
    withHaProxy('behind HAProxy, after a crash', async () => {
      const proxy = await HaProxy.start([pair.primary, pair.standby]);
      between = proxy;
      expectService(await failOver(pair, proxy.url, crash));
    });

    test('by a URL of both hosts, after a crash', async () => {
      expectService(await failOver(pair, bothOf(pair), crash));
    });

    test('by a URL of both hosts, after the primary cannot be reached any more', async () => {
      const proxy = await TcpProxy.start(pair.primary.url);
      between = { remove: () => proxy.close() };
      expectService(await failOver(pair, bothOf(pair, proxy.url), async () => proxy.fallSilent()));
    });
  },
);
