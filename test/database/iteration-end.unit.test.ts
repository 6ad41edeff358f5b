import { setImmediate as nextIteration } from 'node:timers/promises';
import { callAtIterationEnd } from '../../src/database/iteration-end';

test('callbacks are called in one batch, so code that awaits them continues only after the last callback', async () => {
  const log: string[] = [];
  const step = async (name: string) => {
    await new Promise<void>((resolve) =>
      callAtIterationEnd(() => {
        log.push(`${name} called`);
        resolve();
      }),
    );
    log.push(`${name} continues`);
  };
  await Promise.all([step('first'), step('second')]);
  expect(log).toEqual(['first called', 'second called', 'first continues', 'second continues']);
});

test('a callback that is added during a batch is called in the next iteration of the event loop', async () => {
  const log: string[] = [];
  callAtIterationEnd(() => {
    callAtIterationEnd(() => log.push('next'));
    setImmediate(() => log.push('after the batch'));
  });
  await nextIteration();
  expect(log).toEqual([]);
  await nextIteration();
  expect(log).toEqual(['next', 'after the batch']);
});
