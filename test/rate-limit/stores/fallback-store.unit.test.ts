import { setTimeout as sleep } from 'node:timers/promises';
import { FallbackStore } from '../../../src/rate-limit/fallback-store';
import type { LimitStatus } from '../../../src/rate-limit/limit-status';
import { MemoryStore } from '../../../src/rate-limit/memory-store';
import { PLANS } from '../../../src/rate-limit/plans';
import type { SharedStore, Store } from '../../../src/rate-limit/store';
import { BANS } from '../scenarios';

const subject = { id: 'caller', quota: PLANS.FREE };
const options = { retryMs: 40 };

/** Stands in for the Redis store; the test sets its behaviour, and sees how often it was called. */
class SharedStub implements SharedStore {
  readonly state = 'redis';
  readonly inner = new MemoryStore({ bans: BANS, now: Date.now });
  behaviour: 'answers' | 'rejects' | 'hangs' = 'answers';
  asked = 0;
  reconnects = 0;

  take(...request: Parameters<Store['take']>): Promise<LimitStatus> {
    return this.behave(() => this.inner.take(...request));
  }

  peek(...request: Parameters<Store['peek']>): Promise<LimitStatus> {
    return this.behave(() => this.inner.peek(...request));
  }

  liftBan(id: string): Promise<boolean> {
    return this.behave(() => this.inner.liftBan(id));
  }

  reconnect(): void {
    this.reconnects += 1;
  }

  async close(): Promise<void> {
    // It holds nothing.
  }

  private behave<T>(answer: () => T): Promise<T> {
    this.asked += 1;
    if (this.behaviour === 'rejects') return Promise.reject(new Error('out of reach'));
    if (this.behaviour === 'hangs')
      return new Promise((_, reject) => setTimeout(reject, 30, new Error('no answer within 30 ms')));
    return Promise.resolve(answer());
  }
}

let shared: SharedStub;
let changes: string[];
let store: FallbackStore;

function open(share?: number): FallbackStore {
  const memory = new MemoryStore({ bans: BANS, now: Date.now });
  const onState = (state: string, error?: unknown) =>
    changes.push(error instanceof Error ? `${state}: ${error.message}` : state);
  return new FallbackStore(shared, memory, { ...options, onState, ...(share && { share }) });
}

beforeEach(() => {
  shared = new SharedStub();
  changes = [];
  store = open();
});
afterEach(() => store.close());

const limitOf = async (cost = 1) => (await store.take(subject, cost, 'counted')).windows.map(({ limit }) => limit);
const until = async (state: Store['state']) => {
  while (store.state !== state) await sleep(5);
};

test('while Redis answers, its answers are used', async () => {
  expect(await limitOf()).toEqual([60, 1000]);
  expect((await store.peek(subject)).windows[0].remaining).toBe(59);
  expect(store.state).toBe('redis');
  expect(changes).toEqual([]);
});

test.each([
  ['rejects', 'fallback: out of reach'],
  ['hangs', 'fallback: no answer within 30 ms'],
] as const)(
  'if Redis %s, no request fails: they are counted locally, and the change is reported once',
  async (behaviour, told) => {
    shared.behaviour = behaviour;
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => store.take(subject, 1, 'counted')));
    expect(statuses.filter(({ verdict }) => verdict === 'allowed')).toHaveLength(30);
    expect(statuses.map(({ windows }) => windows[1].limit)).toEqual(statuses.map(() => 500));
    expect(changes).toEqual([told]);
  },
);

test('while Redis is unreachable nothing waits for it: answers come at once', async () => {
  shared.behaviour = 'hangs';
  await store.take(subject, 1, 'counted');
  const asked = shared.asked;
  const status = store.take(subject, 1, 'counted');
  expect(status).toMatchObject({ verdict: 'allowed', windows: [{ used: 2 }, { used: 2 }] });
  expect(store.peek(subject)).toMatchObject({ windows: [{ used: 2 }, { used: 2 }] });
  expect(shared.asked).toBe(asked);
});

test('it returns to Redis by itself once a trial request succeeds, and reports that once', async () => {
  shared.behaviour = 'rejects';
  await store.take(subject, 1, 'counted');
  const asked = shared.asked;
  await sleep(200);
  expect(shared.asked - asked).toBeGreaterThanOrEqual(2);
  expect(shared.asked - asked).toBeLessThanOrEqual(5);
  shared.behaviour = 'answers';
  await until('redis');
  expect(await limitOf()).toEqual([60, 1000]);
  expect(changes).toEqual(['fallback: out of reach', 'redis']);
});

test('a connection that stays silent is replaced from time to time', async () => {
  shared.behaviour = 'hangs';
  await store.take(subject, 1, 'counted');
  const asked = shared.asked;
  while (shared.reconnects < 2) await sleep(5);
  expect(shared.asked - asked).toBe(10);
});

test('a Redis that comes and goes does not grant a new share each time', async () => {
  let passed = 0;
  for (let time = 0; time < 2; time++) {
    shared.behaviour = 'rejects';
    for (let i = 0; i < 20; i++) passed += (await store.take(subject, 1, 'counted')).verdict === 'allowed' ? 1 : 0;
    shared.behaviour = 'answers';
    await until('redis');
  }
  expect(passed).toBe(30);
});

test('the share is configurable, and at least one request', async () => {
  await store.close();
  store = open(0.001);
  shared.behaviour = 'rejects';
  expect(await limitOf()).toEqual([1, 1]);
  expect((await store.take(subject, 1, 'counted')).verdict).toBe('limited');
});

test('an operation that fits the plan is not too expensive for the share', async () => {
  shared.behaviour = 'rejects';
  expect(await store.take(subject, 60, 'counted')).toMatchObject({
    verdict: 'allowed',
    inForce: { remaining: 0 },
  });
  expect((await store.take(subject, 1, 'counted')).verdict).toBe('limited');
  expect((await store.take(subject, 61, 'counted')).verdict).toBe('too-expensive');
});

test('bans apply here too, and are lifted in both stores', async () => {
  for (let i = 0; i < 80; i++) await store.take(subject, 1, 'counted');
  expect((await store.peek(subject)).verdict).toBe('banned');
  expect([await store.liftBan(subject.id), await store.liftBan(subject.id)]).toEqual([true, false]);
  shared.behaviour = 'rejects';
  for (let i = 0; i < 50; i++) await store.take(subject, 1, 'counted');
  expect((await store.take(subject, 1, 'free')).verdict).toBe('banned');
  expect([await store.liftBan(subject.id), await store.liftBan(subject.id)]).toEqual([true, false]);
});

test('lifting a ban just after Redis went away does not fail', async () => {
  shared.behaviour = 'rejects';
  expect(await store.liftBan(subject.id)).toBe(false);
  expect(store.state).toBe('fallback');
});

test('once closed, it neither asks Redis nor reports anything', async () => {
  shared.behaviour = 'rejects';
  await store.take(subject, 1, 'counted');
  await store.close();
  const asked = shared.asked;
  await sleep(100);
  expect(shared.asked).toBe(asked);
  expect(changes).toHaveLength(1);
});
