import { expectService, failOver, startPair } from '../helper/failover';
import { CAN_START_HAPROXY, HaProxy } from '../helper/haproxy';
import { CAN_START_POSTGRES } from '../helper/postgres-server';

const onServers = CAN_START_POSTGRES && CAN_START_HAPROXY ? test : test.skip;

onServers(
  'when the primary crashes behind HAProxy under 60 writes a second, and its standby is promoted, no acknowledged write is lost or doubled',
  async () => {
    const pair = await startPair();
    const proxy = await HaProxy.start([pair.primary, pair.standby]);
    try {
      expectService(await failOver(pair, proxy.url, () => pair.primary.stop('SIGQUIT')));
    } finally {
      await proxy.remove();
      await pair.remove();
    }
  },
);
