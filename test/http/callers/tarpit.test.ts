import { Tarpit } from '../../../src/http/callers/tarpit';
import { startGateway } from '../../helper/gateway';

/** How long each of these refusals takes, in milliseconds. */
function timesOf(tarpit: Tarpit, caller: string, refusals: number): Promise<number>[] {
  const started = performance.now();
  return Array.from(
    { length: refusals },
    () => new Promise<number>((resolve) => tarpit.delay(caller, () => resolve(performance.now() - started))),
  );
}

const isAtOnce = (ms: number) => ms < 50;

describe('a caller that is refused repeatedly', () => {
  test('waits for the end of the period from the eleventh refusal on, and no longer', async () => {
    const times = await Promise.all(timesOf(new Tarpit(), 'flooder', 30));
    expect(times.slice(0, 10).every(isAtOnce)).toBe(true);
    for (const ms of times.slice(10)) expect(ms).toBeGreaterThan(90);
    expect(Math.max(...times)).toBeLessThan(1000);
  });

  test('delays nobody else', async () => {
    const tarpit = new Tarpit();
    const flood = timesOf(tarpit, 'flooder', 50);
    expect((await Promise.all(timesOf(tarpit, 'other', 10))).every(isAtOnce)).toBe(true);
    await Promise.all(flood);
  });

  test('is refused at once while a hundred refusals are waiting', async () => {
    const times = await Promise.all(timesOf(new Tarpit(), 'flooder', 130));
    expect(times.filter((ms) => !isAtOnce(ms))).toHaveLength(100);
  });

  test('is refused at once again in the next period', async () => {
    const tarpit = new Tarpit();
    await Promise.all(timesOf(tarpit, 'flooder', 30));
    expect((await Promise.all(timesOf(tarpit, 'flooder', 10))).every(isAtOnce)).toBe(true);
  });
});

test('a banned caller that keeps asking is slowed down', async () => {
  const gateway = await startGateway();
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1000 });
  const ask = () => gateway.graphql('{ pets { totalCount } }', undefined, headers);
  for (let i = 0; i < 22; i++) await ask();
  const started = performance.now();
  const refusals = Array.from({ length: 40 }, async () => {
    const { errors, status } = await ask();
    expect([status, errors[0]?.extensions?.code]).toEqual([429, 'KEY_BANNED']);
    return performance.now() - started;
  });
  const slow = (await Promise.all(refusals)).filter((ms) => ms > 90);
  expect(slow.length).toBeGreaterThanOrEqual(20);
  await gateway.close();
});
