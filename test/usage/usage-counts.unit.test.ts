import { UsageCounts } from '../../src/access/usage-counts';

const MIDNIGHT = Date.parse('2026-11-24T00:00:00Z');
const DAY = MIDNIGHT / 86_400_000;

test('what is taken is not counted again, and goes on counting', () => {
  const counts = new UsageCounts(() => MIDNIGHT);
  counts.add('a', 2, 0, 0);
  counts.add('a', 0, 1, 1);
  counts.add('b', 1, 0, 0);
  expect(counts.take()).toEqual([
    { caller: 'a', day: DAY, requests: 2, refused: 1, bans: 1 },
    { caller: 'b', day: DAY, requests: 1, refused: 0, bans: 0 },
  ]);
  expect(counts.take()).toEqual([]);
  counts.add('a', 3, 0, 0);
  expect(counts.take()).toEqual([{ caller: 'a', day: DAY, requests: 3, refused: 0, bans: 0 }]);
});

test('a day is that of the request, whenever it is saved, and however the clock is set', () => {
  let now = MIDNIGHT - 1;
  const counts = new UsageCounts(() => now);
  counts.add('a', 1, 0, 0);
  now = MIDNIGHT;
  counts.add('a', 2, 0, 0);
  now = MIDNIGHT - 1;
  counts.add('a', 4, 0, 0);
  expect(counts.take().map(({ day, requests }) => [day - DAY, requests])).toEqual([
    [-1, 5],
    [0, 2],
  ]);
});

test('callers that wait to be saved are bounded; those that are known go on', () => {
  const counts = new UsageCounts(() => MIDNIGHT, 2);
  for (const caller of ['a', 'b', 'c', 'a', 'd']) counts.add(caller, 1, 0, 0);
  expect(counts.take().map(({ caller, requests }) => [caller, requests])).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  counts.add('c', 1, 0, 0);
  expect(counts.take()).toHaveLength(1);
});
