import fc from 'fast-check';
import type { LimitStatus, Subject } from '../../src/rate-limit/limit-status';
import { PLANS } from '../../src/rate-limit/plans';
import { HAS_REDIS, openRedis } from '../redis/server';
import { type ClockedLimiter, inMemory, inRedis, LIMITERS } from './limiters';
import { type Answer, SCENARIOS, type Step } from './scenarios';

let redis: Awaited<ReturnType<typeof openRedis>> | undefined;
beforeAll(async () => {
  if (HAS_REDIS) redis = await openRedis();
});
afterAll(() => redis?.close());
const url = () => redis?.url ?? '';

describe.each(Object.entries(LIMITERS))('counting %s', (_name, open) => {
  let clocked: ClockedLimiter;
  beforeAll(async () => {
    clocked = open(url());
    await clocked.advance(0);
  });
  afterAll(() => clocked.limiter.close());

  // All scenarios share one limiter. Each scenario is a separate caller.
  test.each(Object.entries(SCENARIOS))('%s', async (id, steps) => {
    let quota = PLANS.FREE;
    for (const [i, step] of steps.entries()) {
      await clocked.advance(step.wait ?? 0);
      if (step.quota) quota = { perMinute: step.quota[0], perDay: step.quota[1] };
      const answers: Partial<Answer>[] = [];
      for (let time = 1; time <= (step.times ?? 1); time++) answers.push(await ask(clocked, { id, quota }, step));
      const expected = answers.map(() => expect.objectContaining(step.is ?? {}));
      expect({ step: i, answers }).toEqual({ step: i, answers: expected });
    }
  });

  test('of 200 parallel requests of a Free caller, 60 are allowed, 20 are limited and 120 are banned', async () => {
    const subject = { id: 'parallel', quota: PLANS.FREE };
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => clocked.limiter.take(subject, 1, 'counted')),
    );
    const by = (verdict: string) => statuses.filter((status) => status.verdict === verdict);
    expect(['allowed', 'limited', 'banned'].map((verdict) => by(verdict).length)).toEqual([60, 20, 120]);
    const remaining = by('allowed').map(({ inForce }) => inForce.remaining);
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect((await clocked.limiter.peek(subject)).windows[1].remaining).toBe(940);
  });
});

if (HAS_REDIS) {
  const sequences = fc.array(
    fc.record({
      wait: fc.constantFrom(
        0,
        0,
        0,
        1,
        5000,
        60_000,
        120_000,
        3_600_000,
        86_400_000,
        -1,
        -30_000,
        -3_600_000,
        -86_400_001,
      ),
      times: fc.constantFrom(1, 1, 5, 25),
      ask: fc.constantFrom<Step['ask'][]>('counted', 'counted', 'counted', 'free', 'page', 'peek', 'lift'),
      cost: fc.constantFrom(1, 1, 2, 3, 61),
      quota: fc.constantFrom(PLANS.FREE, { perMinute: 2, perDay: 5 }, { perMinute: 3, perDay: 100 }),
      areTogether: fc.boolean(),
    }),
    { maxLength: 12 },
  );

  describe('Redis', () => {
    let limiters: ClockedLimiter[];
    beforeAll(() => {
      limiters = [inMemory(), inRedis(url(), 1)];
    });
    afterAll(() => Promise.all(limiters.map(({ limiter }) => limiter.close())));

    test('makes the same decisions as the store in memory, for sequential and simultaneous requests', async () => {
      let run = 0;
      const property = fc.asyncProperty(sequences, async (sequence) => {
        const id = `run ${++run}`;
        for (const { wait, times, quota, areTogether, ...step } of sequence) {
          await Promise.all(limiters.map((each) => each.advance(wait)));
          const [rounds, together] = areTogether ? [1, times] : [times, 1];
          const request = (limiter: ClockedLimiter) =>
            Promise.all(Array.from({ length: together }, () => ask(limiter, { id, quota }, step)));
          for (let round = 0; round < rounds; round++) {
            const [memory, redis] = await Promise.all(limiters.map(request));
            expect(redis).toEqual(memory);
          }
        }
      });
      await fc.assert(property, { numRuns: process.env.TEST_FULL ? 60 : 20 });
    });
  });
}

async function ask({ limiter, now }: ClockedLimiter, subject: Subject, step: Step): Promise<Partial<Answer>> {
  if (step.ask === 'lift') return { lifted: await limiter.liftBan(subject.id) };
  if (step.ask === 'peek') return answerOf(await limiter.peek(subject), now());
  return answerOf(await limiter.take(subject, step.cost ?? 1, step.ask), now());
}

function answerOf({ verdict, windows, inForce, retryAfterMs, bannedUntil }: LimitStatus, now: number): Partial<Answer> {
  const [minute, day] = windows;
  return {
    verdict,
    minute: minute.remaining,
    day: day.remaining,
    minuteResetIn: minute.resetAt - now,
    dayResetIn: day.resetAt - now,
    inForce: inForce.name,
    remaining: inForce.remaining,
    retryAfterMs,
    bannedIn: bannedUntil && bannedUntil - now,
  };
}
