import { Feed, TooSlow } from '../../src/events/feed';

const values = async (feed: Feed<number>, count: number) => {
  const read: number[] = [];
  for (let i = 0; i < count; i++) read.push((await feed.next()).value as number);
  return read;
};

test('pushed values are read in order, whether the reader waits or not', async () => {
  const feed = new Feed<number>(3, () => undefined);
  feed.push(1);
  feed.push(2);
  expect(await values(feed, 2)).toEqual([1, 2]);
  const next = feed.next();
  feed.push(3);
  feed.push(4);
  expect([(await next).value, ...(await values(feed, 1))]).toEqual([3, 4]);
});

test('a waiting reader is released when the feed ends', async () => {
  const over = jest.fn();
  const feed = new Feed<number>(3, over);
  const next = feed.next();
  await feed.return();
  expect(await next).toEqual({ value: undefined, done: true });
  expect(await feed.next()).toEqual({ value: undefined, done: true });
  await feed.return();
  expect(over).toHaveBeenCalledTimes(1);
});

test('the feed holds up to its limit; one more ends it with an error, once', async () => {
  const over = jest.fn();
  const feed = new Feed<number>(2, over);
  expect([feed.push(1), feed.push(2), feed.push(3)]).toEqual([true, true, false]);
  expect(over).toHaveBeenCalledTimes(1);
  await expect(feed.next()).rejects.toBeInstanceOf(TooSlow);
  expect(await feed.next()).toEqual({ value: undefined, done: true });
});

test('a failure reaches a waiting reader', async () => {
  const feed = new Feed<number>(2, () => undefined);
  const next = feed.next();
  feed.fail(new Error('lost'));
  await expect(next).rejects.toThrow('lost');
  expect(await feed.next()).toEqual({ value: undefined, done: true });
});
