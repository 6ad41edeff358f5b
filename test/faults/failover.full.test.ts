import { bothOf, expectService, failOver, startPair } from '../helper/failover';
import { CAN_START_POSTGRES } from '../helper/postgres-server';

const onServers = CAN_START_POSTGRES ? test : test.skip;

onServers(
  'when the primary crashes and its standby is promoted, nothing that was acknowledged is lost or doubled',
  async () => {
    const pair = await startPair();
    expectService(await failOver(pair, bothOf(pair), () => pair.primary.stop('SIGQUIT')));
    await pair.remove();
  },
);
