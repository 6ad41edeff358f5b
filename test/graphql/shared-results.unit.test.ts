import { SharedResults } from '../../src/graphql/shared-results';

const EVENT = {};

test('a computation is cancelled when its last subscriber leaves, and starts again for a later subscriber', () => {
  const results = new SharedResults<string>();
  const end = jest.fn();
  const start = jest.fn(() => ({ result: new Promise<string>(() => undefined), end }));
  const [first, second] = [results.find(EVENT, 'work', start), results.find(EVENT, 'work', start)];
  expect(start).toHaveBeenCalledTimes(1);
  first.end();
  expect(end).not.toHaveBeenCalled();
  second.end();
  expect(end).toHaveBeenCalledTimes(1);
  results.find(EVENT, 'work', start);
  expect(start).toHaveBeenCalledTimes(2);
});

test('a finished result is kept for later subscribers, even after all earlier subscribers have left', async () => {
  const results = new SharedResults<string>();
  const end = jest.fn();
  const start = jest.fn(() => ({ result: Promise.resolve('done'), end }));
  const first = results.find(EVENT, 'work', start);
  await first.result;
  first.end();
  await expect(results.find(EVENT, 'work', start).result).resolves.toBe('done');
  expect(start).toHaveBeenCalledTimes(1);
  expect(end).not.toHaveBeenCalled();
});
