import type { Session } from '../../src/database/database';
import { Deadline, UNWANTED } from '../../src/database/deadline';
import { type EventReads, SharedResults } from '../../src/graphql/running-subscription';

const EVENT = {};

function setUp() {
  const results = new SharedResults<string>();
  const reads: EventReads[] = [];
  const open = () => ({ requester: { callerId: 'Ada', deadline: new Deadline(10_000) } }) as Session;
  const find = (work: string, result: Promise<string> = new Promise(() => undefined)) =>
    results.find(EVENT, work, open, (given) => {
      reads.push(given);
      return result;
    });
  return { find, reads };
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
