import { Deadline, Ended } from '../../src/database/deadline';
import { FairQueue, type Leave } from '../../src/database/fair-queue';

const PATIENCE_MS = 60_000;
const work = (caller: string, ms = PATIENCE_MS) => ({ caller, deadline: new Deadline(ms) });

/** Enters on behalf of a caller. @returns who has entered so far, in order, and how each leaves. */
function scene(slots: number, places = 1000) {
  const queue = new FairQueue(slots, places);
  const entered: string[] = [];
  const leaves = new Map<string, Leave>();
  const enter = async (caller: string, name: string, ms?: number) => {
    const leave = await queue.enter(work(caller, ms));
    entered.push(name);
    leaves.set(name, leave);
  };
  /** What still waits at the end is dropped, whatever becomes of it. */
  const queueUp = (caller: string, name: string) => void enter(caller, name).catch(() => undefined);
  const leave = async (name: string) => {
    leaves.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, entered, enter, queueUp, leave };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a free slot is had at once, and given back', async () => {
  const queue = new FairQueue(1, 10);
  const leave = queue.enter(work('a'));
  expect(leave).not.toHaveProperty('then');
  expect([queue.idle, queue.waiting]).toEqual([0, 0]);
  (leave as Leave)();
  expect([queue.idle, queue.waiting]).toEqual([1, 0]);
});

test('one caller alone leaves slots to two others, who are served while it waits', async () => {
  const { queue, entered, enter, queueUp, leave } = scene(8);
  for (let i = 0; i < 8; i++) queueUp('a', `a${i}`);
  await settle();
  expect(entered).toHaveLength(5);
  expect(queue.waiting).toBe(3);
  await Promise.all([enter('b', 'b0'), enter('b', 'b1')]);
  await enter('c', 'c0');
  expect(queue.idle).toBe(0);
  queueUp('d', 'd0');
  await leave('a0');
  expect(entered.at(-1)).toBe('d0');
  // The slots that others need stay free.
  for (const name of ['b0', 'b1', 'c0']) await leave(name);
  expect(queue.waiting).toBe(3);
  await leave('d0');
  expect(entered.at(-1)).toBe('a5');
});

test.each([
  [1, [1]],
  [2, [2]],
  [3, [2, 1]],
  [4, [2, 2]],
  [8, [5, 2, 1]],
  [38, [21, 9, 8]],
])('of %i slots callers that come one after the other, each wanting all, get %j', async (slots, shares) => {
  const { entered, queueUp } = scene(slots);
  for (const caller of 'abcdefgh') for (let i = 0; i < slots; i++) queueUp(caller, caller);
  await settle();
  const had = [...'abcdefgh'].map((caller) => entered.filter((each) => each === caller).length);
  expect(had.filter((count) => count > 0)).toEqual(shares);
});

test('callers that wait take turns, each in its own order', async () => {
  const { entered, enter, queueUp, leave } = scene(1);
  await enter('a', 'a0');
  for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) queueUp(name.charAt(0), name);
  await settle();
  for (let i = 0; i < 6; i++) await leave(entered.at(-1) ?? '');
  expect(entered).toEqual(['a0', 'a1', 'b1', 'c1', 'a2', 'b2']);
});

test('what waits is dropped at its deadline, and when nobody waits for it any more', async () => {
  const { queue, entered, enter } = scene(1);
  await enter('a', 'a0');
  await expect(enter('b', 'late', 20)).rejects.toThrow('took longer than the 20 ms');
  const left = work('b');
  const waiting = queue.enter(left);
  left.deadline.end();
  await expect(waiting).rejects.toBeInstanceOf(Ended);
  expect(queue.waiting).toBe(0);
  expect(() => queue.enter(left)).toThrow(Ended);
  expect(entered).toEqual(['a0']);
});

test('too many are refused, one caller while others still have a quarter of the places', async () => {
  const { queue, enter, queueUp } = scene(1, 8);
  await enter('a', 'a0');
  for (let i = 0; i < 6; i++) queueUp('a', 'waits');
  expect(() => queue.enter(work('a'))).toThrow(expect.objectContaining({ code: '53300' }));
  for (let i = 0; i < 2; i++) queueUp('b', 'waits');
  for (const caller of ['b', 'c'])
    expect(() => queue.enter(work(caller))).toThrow(expect.objectContaining({ code: '53300' }));
  expect(queue.waiting).toBe(8);
});
