import { setImmediate as nextIteration } from 'node:timers/promises';
import { Deadline, Ended } from '../../src/database/deadline';
import { OperationQueue, type Release } from '../../src/graphql/operation-queue';

const EXPENSIVE = 15_000;

const nextTick = () => new Promise<void>((resolve) => process.nextTick(resolve));

/** Queues an operation. When it starts, its name is added to `started`. The first letter of the name is the caller. */
function operation(queue: OperationQueue, started: string[], name: string, cost = EXPENSIVE, ms = 10_000) {
  const requester = { callerId: name.slice(0, 1), deadline: new Deadline(ms) };
  return Promise.resolve(queue.enter(requester, cost)).then((leave) => {
    started.push(name);
    return leave;
  });
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
  const leave = queue.enter({ callerId: 'a', deadline: new Deadline(1000) }, 100);
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
  const [first, second] = [queue.enterToRead(work), queue.enterToRead(work)];
  expect([typeof first, typeof second]).toEqual(['function', 'object']);
  (first as Release)();
  (await second)();
});

test('after a document that blocks the event loop, the next document is parsed only after a pause of the same length', async () => {
  const queue = new OperationQueue();
  const work = { callerId: 'a', deadline: new Deadline(1000) };
  const [first, second] = [queue.enterToRead(work), queue.enterToRead(work)];
  (first as Release)();
  const blockedUntil = performance.now() + 50;
  while (performance.now() < blockedUntil);
  (await second)();
  expect(performance.now() - blockedUntil).toBeGreaterThan(40);
});
