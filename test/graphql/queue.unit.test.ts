import { Queue } from '../../src/graphql/idempotency/queue';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('tasks run one at a time, in the order they arrive, even if earlier ones fail', async () => {
  const queue = new Queue();
  const log: string[] = [];
  const ask = (name: string) =>
    queue.run(async () => {
      log.push(`${name} begins`);
      await sleep(5);
      log.push(`${name} ends`);
      if (name === 'a') throw new Error(name);
      return name;
    });
  expect(await Promise.allSettled(['a', 'b', 'c'].map(ask))).toMatchObject([
    { reason: new Error('a') },
    { value: 'b' },
    { value: 'c' },
  ]);
  expect(log).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test('a task that has waited too long is refused, and takes no time from later ones', async () => {
  const queue = new Queue(20);
  const ran: number[] = [];
  const slow = queue.run(() => sleep(50));
  const late = [1, 2].map((i) => queue.run(async () => ran.push(i)));
  await slow;
  for (const each of late) await expect(each).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await queue.run(async () => ran.push(3));
  expect(ran).toEqual([3]);
});
