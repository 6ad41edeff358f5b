import { Deadline, Ended } from '../../src/database/deadline';
import { connectionsOfOneCaller, FairSemaphore, type Release } from '../../src/database/fair-semaphore';

/** By default, work that does not end before all tests of its process. A wait that nothing awaits would fail a later test. */
const work = (caller: string, ms = 1_000_000_000) => ({ callerId: caller, deadline: new Deadline(ms) });
const settle = () => new Promise((resolve) => setImmediate(resolve));
const FULL = expect.objectContaining({ code: '53300' });

/** A semaphore with helpers. The first letter of a name is the caller: `a1` is a request of caller `a`. */
function scene(slots: number, places = 1000) {
  const queue = new FairSemaphore(slots, connectionsOfOneCaller(slots), places);
  const entered: string[] = [];
  const leaves = new Map<string, Release>();
  const enter = async (...names: string[]) => {
    for (const name of names)
      void Promise.resolve(queue.acquire(work(name.charAt(0)))).then((leave) => {
        entered.push(name);
        leaves.set(name, leave);
      });
    await settle();
  };
  const leave = async (...names: string[]) => {
    for (const name of names) leaves.get(name)?.();
    await settle();
  };
  return { queue, entered, enter, leave };
}

test('a free slot is acquired without waiting, and is free again after its release', () => {
  const { queue } = scene(1);
  const leave = queue.acquire(work('a'));
  expect(leave).not.toHaveProperty('then');
  expect([queue.idle, queue.waiting]).toEqual([0, 0]);
  (leave as Release)();
  expect([queue.idle, queue.waiting]).toEqual([1, 0]);
});

test('a caller holds at most three quarters of the slots; other callers are served while its further requests wait', async () => {
  const { queue, entered, enter, leave } = scene(8);
  await enter('a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7');
  expect([entered.length, queue.waiting]).toEqual([6, 2]);
  await enter('b0', 'c0');
  expect([entered.length, queue.idle]).toEqual([8, 0]);
  await enter('d0');
  await leave('b0');
  expect(entered.at(-1)).toBe('d0');
  await leave('c0', 'd0');
  expect(queue.waiting).toBe(2);
  await leave('a0');
  expect(entered.at(-1)).toBe('a6');
});

test.each([
  [1, [1]],
  [2, [2]],
  [3, [2, 1]],
  [4, [3, 1]],
  [8, [6, 2]],
  [38, [28, 10]],
])('if every caller requests all %i slots, the first callers acquire %j slots', async (slots, shares) => {
  const { entered, enter } = scene(slots);
  for (const caller of 'abcdefgh') await enter(...Array(slots).fill(caller));
  const counts = [...'abcdefgh'].map((caller) => entered.filter((each) => each === caller).length);
  expect(counts.filter(Boolean)).toEqual(shares);
});

test.each([
  [2, 2],
  [3, 2],
  [5, 3],
  [10, 7],
  [20, 15],
])('of %i connections, one caller may hold %i', (all, share) => {
  expect(connectionsOfOneCaller(all)).toBe(share);
});

test('waiting callers are served round-robin, and the requests of one caller in order', async () => {
  const { entered, enter, leave } = scene(1);
  await enter('a0', 'a1', 'a2', 'b1', 'b2', 'c1');
  for (let i = 0; i < 6; i++) await leave(entered.at(-1) ?? '');
  expect(entered).toEqual(['a0', 'a1', 'b1', 'c1', 'a2', 'b2']);
});

test('a waiting request is rejected at its deadline, and when its client disconnects', async () => {
  const { queue, enter } = scene(1);
  await enter('a0');
  await expect(queue.acquire(work('b', 20))).rejects.toThrow('took longer than the limit of 20 ms');
  const left = work('b');
  const waiting = queue.acquire(left);
  left.deadline.end();
  await expect(waiting).rejects.toBeInstanceOf(Ended);
  expect(queue.waiting).toBe(0);
  expect(() => queue.acquire(left)).toThrow(Ended);
});

test('a request is rejected if the queue is full, or if its caller fills three quarters of the queue', async () => {
  const { queue, enter } = scene(1, 8);
  await enter('a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6');
  expect(() => queue.acquire(work('a'))).toThrow(FULL);
  await enter('b0', 'b1');
  for (const caller of ['b', 'c']) expect(() => queue.acquire(work(caller))).toThrow(FULL);
  expect(queue.waiting).toBe(8);
});

test('a paused semaphore hands out no slot until it resumes; then waiting callers are served round-robin', async () => {
  const { queue, entered, enter, leave } = scene(2);
  await enter('a0');
  queue.pause();
  await enter('a1', 'a2', 'b1');
  await leave('a0');
  expect([entered, queue.waiting, queue.idle]).toEqual([['a0'], 3, 2]);
  queue.resume();
  await settle();
  expect(entered).toEqual(['a0', 'a1', 'b1']);
});
