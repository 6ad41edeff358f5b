import fc from 'fast-check';
import type { LimitStatus, Subject } from '../../../src/rate-limit/limit-status';
import { PLANS } from '../../../src/rate-limit/plans';
import type { Store } from '../../../src/rate-limit/store';
import { type Answer, SCENARIOS, type Step } from '../scenarios';
import { CLOCKED_STORES, type ClockedStore, STORES } from './stores';

describe.each(CLOCKED_STORES)('the $name store', ({ open }) => {
  let clocked: ClockedStore;
  beforeAll(async () => {
    clocked = await open();
  });
  afterAll(() => clocked.close());

  test.each(SCENARIOS)('$name', async ({ name, steps }) => {
    let quota = PLANS.FREE;
    for (const [i, step] of steps.entries()) {
      await clocked.advance(step.wait ?? 0);
      if (step.quota) quota = { perMinute: step.quota[0], perDay: step.quota[1] };
      for (let time = 1; time <= (step.times ?? 1); time++) {
        const answer = await ask(clocked, { id: name, quota }, step);
        expect({ step: i, time, ...answer }).toMatchObject({ step: i, time, ...step.is });
      }
    }
  });

  test('callers are counted separately', async () => {
    const [one, other] = ['one', 'other'].map((id) => ({ id, quota: PLANS.FREE })) as [Subject, Subject];
    await clocked.store.take(one, 60, 'counted');
    expect((await clocked.store.take(one, 1, 'counted')).verdict).toBe('limited');
    expect((await clocked.store.take(other, 1, 'counted')).verdict).toBe('allowed');
  });

  test('peeking changes nothing', async () => {
    const subject = { id: 'watched', quota: PLANS.FREE };
    const taken = await clocked.store.take(subject, 5, 'counted');
    expect(await clocked.store.peek(subject)).toEqual(taken);
    expect(await clocked.store.peek(subject)).toEqual(taken);
  });
});

describe.each(STORES)('$instances instance(s) of the $name store', ({ open }) => {
  const { stores, close } = open();
  const storeOf = (i: number) => stores[i % stores.length] as Store;
  afterAll(close);

  test('of 200 parallel requests of a new Free caller exactly 60 pass, and the rest end in one ban', async () => {
    await Promise.all(stores.map((store) => store.peek({ id: 'warm', quota: PLANS.FREE })));
    const subject = { id: 'parallel', quota: PLANS.FREE };
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => storeOf(i).take(subject, 1, 'counted')),
    );
    const count = (verdict: string) => statuses.filter((status) => status.verdict === verdict).length;
    expect([count('allowed'), count('limited'), count('banned')]).toEqual([60, 20, 120]);
    const left = statuses.filter(({ verdict }) => verdict === 'allowed').map(({ inForce }) => inForce.remaining);
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect((await storeOf(1).peek(subject)).windows[1].remaining).toBe(940);
  });

  test('a ban and its end are known to all instances', async () => {
    const subject = { id: 'banned', quota: { perMinute: 1, perDay: 10 } };
    for (let i = 0; i < 21; i++) await storeOf(0).take(subject, 1, 'counted');
    expect((await storeOf(1).take(subject, 1, 'free')).verdict).toBe('banned');
    expect(await storeOf(1).liftBan(subject.id)).toBe(true);
    expect((await storeOf(0).take(subject, 1, 'free')).verdict).toBe('allowed');
  });
});

if (CLOCKED_STORES.length > 1) {
  type Generated = Step & { quota: Subject['quota']; areTogether: boolean };

  test('every store gives the same answers to any sequence of requests, one by one or together', async () => {
    const stores = await Promise.all(CLOCKED_STORES.map(({ open }) => open()));
    const quotas = [PLANS.FREE, { perMinute: 2, perDay: 5 }, { perMinute: 3, perDay: 100 }];
    const steps = fc.array(
      fc.record({
        wait: fc.constantFrom(0, 0, 0, 1, 5000, 60_000, 120_000, 3_600_000, 86_400_000),
        times: fc.constantFrom(1, 1, 5, 25),
        ask: fc.constantFrom('counted', 'counted', 'counted', 'free', 'page', 'peek', 'lift'),
        cost: fc.constantFrom(1, 1, 2, 3, 61),
        quota: fc.constantFrom(...quotas),
        areTogether: fc.boolean(),
      }),
      { maxLength: 12 },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const id = `run ${++run}`;
        for (const { quota, areTogether, ...step } of sequence as Generated[]) {
          await Promise.all(stores.map((clocked) => clocked.advance(step.wait ?? 0)));
          const times = step.times ?? 1;
          for (let turn = 0; turn < (areTogether ? 1 : times); turn++) {
            const [expected, ...others] = await Promise.all(
              stores.map((clocked) =>
                Promise.all(Array.from({ length: areTogether ? times : 1 }, () => ask(clocked, { id, quota }, step))),
              ),
            );
            for (const other of others) expect(other).toEqual(expected);
          }
        }
      }),
      { numRuns: 60 },
    );
    await Promise.all(stores.map(({ close }) => close()));
  });
}

async function ask({ store, now }: ClockedStore, subject: Subject, step: Step): Promise<Partial<Answer>> {
  if (step.ask === 'lift') return { lifted: await store.liftBan(subject.id) };
  return answerOf(
    step.ask === 'peek' ? await store.peek(subject) : await store.take(subject, step.cost ?? 1, step.ask),
    now(),
  );
}

function answerOf(status: LimitStatus, now: number): Omit<Answer, 'lifted'> {
  const [minute, day] = status.windows;
  return {
    verdict: status.verdict,
    minute: minute.remaining,
    day: day.remaining,
    minuteResetIn: minute.resetAt - now,
    dayResetIn: day.resetAt - now,
    inForce: status.inForce.name,
    remaining: status.inForce.remaining,
    retryAfterMs: status.retryAfterMs,
    bannedIn: status.bannedUntil === undefined ? undefined : status.bannedUntil - now,
  };
}
