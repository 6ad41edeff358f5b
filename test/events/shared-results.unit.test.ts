import { SharedResults } from '../../src/graphql/shared-results';

/** A computation that never ends by itself. */
function endless() {
  const ended = jest.fn();
  const start = jest.fn(() => ({ result: new Promise<string>(() => undefined), end: ended }));
  return { start, ended };
}

const EVENT = {};

test('a result that nobody waits for any more is not computed to its end', () => {
  const results = new SharedResults<string>();
  const { start, ended } = endless();
  const [first, second] = [results.find(EVENT, 'work', start), results.find(EVENT, 'work', start)];
  expect(start).toHaveBeenCalledTimes(1);
  first.end();
  expect(ended).not.toHaveBeenCalled();
  second.end();
  expect(ended).toHaveBeenCalledTimes(1);
});

test('who comes after all have left has it computed anew', () => {
  const results = new SharedResults<string>();
  const { start, ended } = endless();
  results.find(EVENT, 'work', start).end();
  results.find(EVENT, 'work', start);
  expect(start).toHaveBeenCalledTimes(2);
  expect(ended).toHaveBeenCalledTimes(1);
});

test('a result that is there is kept for who comes later, whoever has left', async () => {
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
