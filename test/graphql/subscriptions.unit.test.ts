import type { Session } from '../../src/database/database';
import { Deadline, UNWANTED } from '../../src/database/deadline';
import { ALL_ROWS } from '../../src/database/visibility';
import { TooSlow } from '../../src/events/hub';
import { type EventReads, EventResults } from '../../src/graphql/subscriptions';

const EVENT = {};

/** @param waitMs how long work may wait for its turn. */
function setUp(waitMs = 10_000) {
  const open = () => ({ requester: { callerId: 'events', deadline: new Deadline(10_000) } }) as Session;
  const results = new EventResults<string>(open, waitMs);
  const reads: EventReads[] = [];
  const find = (
    key: string,
    result: Promise<string> = new Promise(() => undefined),
    callerId = 'Ada',
    waitToCompute: (deadline: Deadline) => unknown = () => undefined,
  ) =>
    results.resultFor(EVENT, {
      key,
      callerId,
      visibility: ALL_ROWS,
      waitToCompute,
      compute: (given) => {
        reads.push(given);
        return result;
      },
    });
  return { find, reads };
}

/** A queue in which work waits. */
function queue() {
  let start: () => void = () => undefined;
  let entered = 0;
  const enter = (deadline: Deadline) => {
    entered++;
    return new Promise<void>((resolve, reject) => {
      start = resolve;
      deadline.onEnd(() => reject(deadline.reason));
    });
  };
  return { enter, start: () => start(), entered: () => entered };
}

const reasonOf = (reads: EventReads | undefined) => reads?.session.requester.deadline.reason;

test('a computation is cancelled when its last subscriber leaves, and starts again for a later subscriber', () => {
  const { find, reads } = setUp();
  const [first, second] = [find('work'), find('work')];
  expect(reads).toHaveLength(1);
  first.leave();
  expect(reasonOf(reads[0])).toBeUndefined();
  second.leave();
  expect(reasonOf(reads[0])).toBe(UNWANTED);
  find('work');
  expect(reads).toHaveLength(2);
  expect(reasonOf(reads[1])).toBeUndefined();
  expect(reads[1]?.loaders).not.toBe(reads[0]?.loaders);
});

test('computations for one event share their reads, which are cancelled only when no subscriber waits', async () => {
  const { find, reads } = setUp();
  await find('finished', Promise.resolve('done')).result;
  const [first, second] = [find('work'), find('other work')];
  expect(new Set(reads).size).toBe(1);
  first.leave();
  expect(reasonOf(reads[0])).toBeUndefined();
  second.leave();
  expect(reasonOf(reads[0])).toBe(UNWANTED);
});

test('a computation without subscribers is cancelled when the last other computation of its event is done', async () => {
  const { find, reads } = setUp();
  let finish: (result: string) => void = () => undefined;
  const other = find('other work', new Promise((resolve) => (finish = resolve)));
  find('work').leave();
  expect(reasonOf(reads[0])).toBeUndefined();
  finish('done');
  await other.result;
  expect(reasonOf(reads[0])).toBe(UNWANTED);
});

test('a finished result is kept for later subscribers, even after all earlier subscribers have left', async () => {
  const { find, reads } = setUp();
  const first = find('work', Promise.resolve('done'));
  await first.result;
  first.leave();
  find('other work').leave();
  await expect(find('work').result).resolves.toBe('done');
  expect(reads).toHaveLength(2);
});

test('a computation that starts later does not share a time limit that has nearly passed', () => {
  const { find, reads } = setUp();
  find('early');
  const now = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(now + 9_000);
  find('late');
  jest.restoreAllMocks();
  expect(reads[1]?.session).not.toBe(reads[0]?.session);
});

test('work that waits for its turn is shared by the subscribers of its caller', async () => {
  const { find, reads } = setUp();
  const ada = queue();
  const both = [
    find('work', Promise.resolve('done'), 'Ada', ada.enter),
    find('work', Promise.resolve('done'), 'Ada', ada.enter),
  ];
  expect(reads).toHaveLength(0);
  ada.start();
  expect(await Promise.all(both.map(({ result }) => result))).toEqual(['done', 'done']);
  expect([reads.length, ada.entered()]).toEqual([1, 1]);
});

test('work that waits for its turn does not delay other callers, and takes over their result', async () => {
  const { find, reads } = setUp();
  const greedy = queue();
  const waiting = find('work', Promise.resolve('wrong'), 'greedy', greedy.enter);
  await expect(find('work', Promise.resolve('done'), 'Ada').result).resolves.toBe('done');
  greedy.start();
  await expect(waiting.result).resolves.toBe('done');
  expect(reads).toHaveLength(1);
});

test('work whose turn does not come in time fails with TooSlow, for its caller only', async () => {
  const { find } = setUp(20);
  const waiting = find('work', Promise.resolve('wrong'), 'greedy', queue().enter);
  await expect(waiting.result).rejects.toBeInstanceOf(TooSlow);
  await expect(find('work', Promise.resolve('done'), 'Ada').result).resolves.toBe('done');
});

test('work stops waiting when its last subscriber leaves', async () => {
  const { find, reads } = setUp();
  const ada = queue();
  const [first, second] = [
    find('work', Promise.resolve('done'), 'Ada', ada.enter),
    find('work', Promise.resolve('done'), 'Ada', ada.enter),
  ];
  first?.leave();
  second?.leave();
  await expect(first?.result).rejects.toThrow();
  expect(reads).toHaveLength(0);
});
