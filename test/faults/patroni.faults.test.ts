import { type Outcome, query, underWrites } from '../helper/failover';
import { HaProxy } from '../helper/haproxy';
import { NO_PATRONI, PatroniCluster } from '../helper/patroni';
import { until } from '../helper/until';

type Fault = (cluster: PatroniCluster) => Promise<void>;

const switchOver: Fault = (cluster) => cluster.switchOver();
const crash: Fault = async (cluster) => cluster.crash(await cluster.primary());
const lose: Fault = async (cluster) => cluster.lose(await cluster.primary());

describe('under 60 writes a second on servers that Patroni keeps available, nothing acknowledged is lost or doubled', () => {
  let cluster: PatroniCluster;
  let proxy: HaProxy | undefined;
  beforeEach(async () => {
    if (NO_PATRONI) throw new Error(NO_PATRONI);
    cluster = await PatroniCluster.start();
  }, 180_000);
  afterEach(async () => {
    await proxy?.remove();
    proxy = undefined;
    await cluster?.remove();
  });

  const behindProxy = async () => {
    proxy = await HaProxy.before(cluster.nodes);
    return `${proxy.url}?target_session_attrs=read-write`;
  };
  const byHosts = async () => cluster.url;

  /** How long nothing can be written: Patroni waits for the lease of a primary that is lost, which is 20 s here. */
  test.each<[string, string, () => Promise<string>, Fault, number]>([
    ['the primary is changed by patronictl', 'behind HAProxy', behindProxy, switchOver, 10],
    ['the primary is changed by patronictl', 'by a URL of all hosts', byHosts, switchOver, 10],
    ["the primary's PostgreSQL is killed", 'by a URL of all hosts', byHosts, crash, 15],
    ['the primary is killed with its Patroni', 'behind HAProxy', behindProxy, lose, 35],
    ['the primary is killed with its Patroni', 'by a URL of all hosts', byHosts, lose, 35],
  ])('%s, %s', async (what, how, route, fail, seconds) => {
    const url = await route();
    if (proxy) await until(() => query(url, 'select').then(Boolean, () => false));
    const outcome = await underWrites(url, await cluster.primaryUrl(), async () => {
      await fail(cluster);
      return { url: await cluster.primaryUrl(), promotedAt: performance.now() };
    });
    expectService(outcome, seconds, `${what}, ${how}`);
  });
});

function expectService(outcome: Outcome, seconds: number, what: string): void {
  const { failedAt, promotedAt, writesAt, probes, lost, doubled, acknowledged, wrong } = outcome;
  const after = probes.filter(({ at }) => at > promotedAt);
  const readyAt = Math.min(...after.filter(({ status }) => status === 200).map(({ at }) => at));
  const ms = (time: number) => Math.round(time);
  process.stderr.write(
    `Patroni, ${what}: a primary after ${ms(promotedAt - failedAt)} ms, writes ${ms(writesAt - promotedAt)} ms and ready ${ms(readyAt - promotedAt)} ms later; ${acknowledged} acknowledged\n`,
  );
  expect({ lost, doubled, wrong }).toEqual({ lost: 0, doubled: 0, wrong: [] });
  expect(acknowledged).toBeGreaterThan(200);
  expect(promotedAt - failedAt).toBeLessThan(seconds * 1000);
  expect(writesAt - promotedAt).toBeLessThan(5000);
  const late = after.filter(({ at }) => at > promotedAt + 2000);
  expect(late.filter(({ status }) => status !== 200)).toEqual([]);
}
