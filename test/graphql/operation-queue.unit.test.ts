import { setImmediate as nextIteration } from 'node:timers/promises';
import { Deadline, Ended } from '../../src/database/deadline';
import { callAtIterationEnd } from '../../src/database/iteration-end';
import { OperationQueue, type Release } from '../../src/graphql/operation-queue';

const EXPENSIVE = 15_000;

const isKnown = () => false;

const nextTick = () => new Promise<void>((resolve) => process.nextTick(resolve));

/** Queues an operation. When it starts, its name is added to `started`. The first letter of the name is the caller. */
function operation(queue: OperationQueue, started: string[], name: string, cost = EXPENSIVE, ms = 10_000) {
  const requester = { callerId: name.slice(0, 1), deadline: new Deadline(ms) };
  return Promise.resolve(queue.enterCounted(requester, cost)).then((leave) => {
    started.push(name);
    return leave;
  });
}

/** Blocks the event loop for some milliseconds. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Runs each operation for two iterations of the event loop. @returns the maximum number that ran at the same time. */
async function finish(operations: Promise<Release>[]): Promise<number> {
  let running = 0;
  let most = 0;
  await Promise.all(
    operations.map(async (each) => {
      const leave = await each;
      most = Math.max(most, ++running);
      await nextIteration();
      await nextIteration();
      running--;
      leave();
    }),
  );
  return most;
}

test('a cheap operation starts at once, even if expensive operations wait', async () => {
  const queue = new OperationQueue();
  const started: string[] = [];
  const expensive = Array.from({ length: 5 }, (_, i) => operation(queue, started, `a${i}`));
  const leave = queue.enterCounted({ callerId: 'a', deadline: new Deadline(1000) }, 100);
  expect(typeof leave).toBe('function');
  await finish(expensive);
});

test('at most one expensive operation starts in an iteration of the event loop', async () => {
  const queue = new OperationQueue();
  const started: string[] = [];
  const counts: number[] = [];
  const done = finish(Array.from({ length: 6 }, (_, i) => operation(queue, started, `${i}`)));
  // The first operation starts at once.
  await nextTick();
  while (started.length < 6) {
    const before = started.length;
    await nextIteration();
    counts.push(started.length - before);
  }
  expect(Math.max(...counts)).toBe(1);
  await done;
});

test("one caller's operations start in order, and running operations stay within the cost limit", async () => {
  const queue = new OperationQueue();
  const started: string[] = [];
  const names = Array.from({ length: 6 }, (_, i) => `a${i}`);
  expect(await finish(names.map((name) => operation(queue, started, name)))).toBe(2);
  expect(started).toEqual(names);
});

test('an operation that costs more than the total limit runs alone', async () => {
  const queue = new OperationQueue();
  expect(await finish(['a0', 'a1', 'a2'].map((name) => operation(queue, [], name, 50_000)))).toBe(1);
});

test('callers are served round-robin', async () => {
  const queue = new OperationQueue();
  const started: string[] = [];
  const names = ['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'b1'];
  await finish(names.map((name) => operation(queue, started, name)));
  expect(started.indexOf('b1')).toBeLessThan(started.indexOf('a3'));
});

test('an operation stops waiting at its deadline, and the operations behind it still run', async () => {
  const queue = new OperationQueue();
  const started: string[] = [];
  const first = operation(queue, started, 'a0', 30_000);
  const late = operation(queue, started, 'a1', 30_000, 1);
  const behind = operation(queue, started, 'a2', 30_000);
  await expect(late).rejects.toThrow(Ended);
  (await first)();
  (await behind)();
  expect(started).toEqual(['a0', 'a2']);
});

test('at most one document is parsed in each iteration of the event loop', async () => {
  const queue = new OperationQueue();
  const work = { callerId: 'a', deadline: new Deadline(1000) };
  const [first, second] = [queue.enterDocument(work, isKnown), queue.enterDocument(work, isKnown)];
  expect([typeof first, typeof second]).toEqual(['function', 'object']);
  (first as Release)();
  (await second)();
});

test('after a large document, the next is parsed only after a pause twice as long as reading and analysing the first', async () => {
  const queue = new OperationQueue();
  const work = { callerId: 'a', deadline: new Deadline(1000) };
  for (const ms of [5, 50]) {
    const [first, second] = [queue.enterDocument(work, isKnown), queue.enterDocument(work, isKnown)];
    (first as Release)();
    queue.expectLargeDocument();
    block(ms);
    await nextIteration();
    block(ms);
    const blockedUntil = performance.now();
    const release = await second;
    expect(performance.now() - blockedUntil).toBeGreaterThan(1.8 * 2 * ms);
    release();
    await nextIteration();
  }
});

test('after an expensive operation that blocks the event loop for more than 10 ms, the next starts after an equally long pause', async () => {
  const queue = new OperationQueue();
  const first = await operation(queue, [], 'a0', 30_000);
  const second = operation(queue, [], 'b0', 30_000);
  block(50);
  const blockedUntil = performance.now();
  (await second)();
  expect(performance.now() - blockedUntil).toBeGreaterThan(40);
  first();
});

test('the pause is as long as the operation took to compute its response, not only to send it', async () => {
  const queue = new OperationQueue();
  const first = await operation(queue, [], 'a0', 60_000);
  const second = operation(queue, [], 'b0');
  // Results of statements are delivered in this way.
  await new Promise<void>((resolve) => callAtIterationEnd(resolve));
  block(50);
  first();
  const blockedUntil = performance.now();
  (await second)();
  expect(performance.now() - blockedUntil).toBeGreaterThan(40);
});

test.each([
  ['one caller', 'a'],
  ['different callers', 'abcdef'],
])('at most one waiting operation of %s is rejected in an iteration of the event loop', async (_what, callers) => {
  let rejection: Error | undefined;
  const queue = new OperationQueue({ rejectionOf: () => rejection });
  const first = await operation(queue, [], 'z', 60_000);
  let rejected = 0;
  const waiting = Array.from({ length: 6 }, (_, i) =>
    operation(queue, [], callers.charAt(i % callers.length)).catch((error) => {
      expect(error).toBe(rejection);
      rejected++;
    }),
  );
  await nextIteration();
  rejection = new Error('too much is unread');
  first();
  const counts: number[] = [];
  while (rejected < waiting.length) {
    const before = rejected;
    await nextIteration();
    counts.push(rejected - before);
  }
  expect(Math.max(...counts)).toBe(1);
});

test('requests that wait for a document go on together as soon as it is known', async () => {
  const queue = new OperationQueue();
  const work = { callerId: 'a', deadline: new Deadline(1000) };
  let known = false;
  const entered = Array.from({ length: 50 }, () => queue.enterDocument(work, () => known));
  (entered[0] as Release)();
  known = true;
  const started = performance.now();
  await Promise.all(entered);
  await nextIteration();
  expect(performance.now() - started).toBeLessThan(1000);
  expect([...Object.values(queue)].filter((value) => value instanceof Map && value.size > 0)).toEqual([]);
});

test('a caller may use as many places in the queue as other callers leave free, and at least one', () => {
  const queue = new OperationQueue({ mostWaiting: 10, rejectionOf: () => undefined });
  /** @returns the number of operations that are rejected. */
  const enter = (callerId: string, count: number) => {
    let rejected = 0;
    for (let i = 0; i < count; i++) {
      try {
        void queue.enterCounted({ callerId, deadline: new Deadline(1_000) }, 30_000);
      } catch (error) {
        expect(error).toMatchObject({ code: 'RATE_LIMITED' });
        rejected++;
      }
    }
    return rejected;
  };
  // One operation runs, and five others wait in half of the places.
  expect(enter('a', 10)).toBe(4);
  expect(enter('b', 10)).toBe(7);
  for (const callerId of 'cdefgh') expect(enter(callerId, 1)).toBe(0);
  expect(enter('a', 1)).toBe(1);
});

describe('uncounted work', () => {
  const enterAll = (queue: OperationQueue, callerId: string, count: number, cost: number, ms = 5_000) =>
    Array.from({ length: count }, () => queue.enterEvent({ callerId, deadline: new Deadline(ms) }, cost));

  test('of one caller is limited to 10,000 of estimated cost per second, over events and free operations', async () => {
    const queue = new OperationQueue();
    const started = performance.now();
    await Promise.all(enterAll(queue, 'a', 50, 250));
    await queue.enterFree({ callerId: 'a', deadline: new Deadline(5_000) }, 2_000);
    expect(performance.now() - started).toBeGreaterThan(200);
  });

  test('of a greedy caller does not delay the work of others', async () => {
    const queue = new OperationQueue();
    let greedy = 0;
    for (const each of enterAll(queue, 'greedy', 100, 250))
      Promise.resolve(each).then(
        () => greedy++,
        () => undefined,
      );
    await nextIteration();
    const before = greedy;
    await Promise.all(enterAll(queue, 'b', 4, 250));
    await queue.enterCounted({ callerId: 'b', deadline: new Deadline(5_000) }, EXPENSIVE);
    // Both callers start work in turn. Counted instead of measured, since a busy machine delays both.
    expect(greedy - before).toBeLessThan(8);
  });

  test('starts in one iteration of the event loop only up to an estimated cost of 250', async () => {
    const queue = new OperationQueue();
    const entered = enterAll(queue, 'a', 6, 100);
    expect(entered.map((each) => each instanceof Promise)).toEqual([false, false, true, true, true, true]);
    await nextIteration();
    await nextIteration();
    await Promise.all(entered);
  });

  test('that is free and cheap does not wait', () => {
    const queue = new OperationQueue();
    const work = { callerId: 'a', deadline: new Deadline(1_000) };
    for (let i = 0; i < 90; i++) expect(queue.enterFree(work, 100)).not.toBeInstanceOf(Promise);
  });
});
