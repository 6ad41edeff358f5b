import { setImmediate as nextIteration } from 'node:timers/promises';
import { Deadline, Ended } from '../../src/database/deadline';
import type { LimitStatus } from '../../src/rate-limit/limit-status';
import { LookUps } from '../../src/rate-limit/look-ups';

/** Look-ups of an address with this number of requests left. @param onPeek called whenever the quota is read. */
function setUp(remaining: number, onPeek = () => {}) {
  const status = { verdict: 'allowed', inForce: { remaining } } as LimitStatus;
  const peek = () => {
    onPeek();
    return status;
  };
  const lookUps = new LookUps({ peek });
  const started: string[] = [];
  const run = (name: string, deadline = new Deadline(10_000)) => {
    let finish: () => void = () => undefined;
    const result = lookUps.run('198.51.100.7', deadline, () => {
      started.push(name);
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    result.catch(() => undefined);
    return { result, deadline, finish: () => finish() };
  };
  return { run, started };
}

const settle = async () => {
  for (let i = 0; i < 5; i++) await nextIteration();
};

test('look-ups beyond the remaining quota of the address wait until a running one ends', async () => {
  const { run, started } = setUp(1);
  const first = run('first');
  run('second');
  await settle();
  expect(started).toEqual(['first']);
  first.finish();
  await settle();
  expect(started).toEqual(['first', 'second']);
});

test('a waiting look-up whose client leaves ends, and starts no more', async () => {
  const { run, started } = setUp(1);
  const first = run('first');
  const left = run('left');
  run('third');
  await settle();
  left.deadline.end();
  await expect(left.result).rejects.toBeInstanceOf(Ended);
  first.finish();
  await settle();
  expect(started).toEqual(['first', 'third']);
});

test('a waiting look-up ends at its deadline', async () => {
  const { run } = setUp(1);
  run('first');
  await expect(run('late', new Deadline(20)).result).rejects.toBeInstanceOf(Ended);
});

test('look-ups go on after a client has left in the moment in which its look-up would have started', async () => {
  let leave = () => {};
  const { run, started } = setUp(1, () => leave());
  const first = run('first');
  const left = run('left');
  run('third');
  await settle();
  leave = () => left.deadline.end();
  first.finish();
  await settle();
  expect(started).toEqual(['first', 'third']);
});
