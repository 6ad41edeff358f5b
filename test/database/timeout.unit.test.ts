import { randomBytes } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withTimeout } from '../../src/database/timeout';

test('the result or error of a promise that settles within the limit is passed on', async () => {
  expect(await withTimeout(sleep(1, 'answer'), 1000)).toBe('answer');
  await expect(withTimeout(Promise.reject(new Error('refused')), 1000)).rejects.toThrow('refused');
});

test('a promise that rejects after the limit causes no unhandled rejection', async () => {
  const unhandled = jest.fn();
  process.once('unhandledRejection', unhandled);
  let fail: (error: Error) => void = () => undefined;
  const late = new Promise((_resolve, reject) => {
    fail = reject;
  });
  await expect(withTimeout(late, 20)).rejects.toThrow('no response within 20 ms');
  fail(new Error('late'));
  await sleep(1);
  expect(unhandled).not.toHaveBeenCalled();
  process.off('unhandledRejection', unhandled);
});

test('a result that arrived while the event loop was blocked is passed on, even after the time limit', async () => {
  await setImmediate(); // After this phase, the event loop runs timers before it polls for I/O.
  const answer = withTimeout(promisify(randomBytes)(16), 10);
  const start = performance.now();
  while (performance.now() - start < 60);
  expect(await answer).toHaveLength(16);
});
