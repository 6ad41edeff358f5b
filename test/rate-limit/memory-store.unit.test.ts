import { MemoryStore } from '../../src/rate-limit/memory-store';
import { PLANS } from '../../src/rate-limit/plans';
import { BANS } from './scenarios';

test('at the maximum number of callers, the least recently seen caller is evicted and gets a full quota again', () => {
  const store = new MemoryStore({ bans: BANS, now: () => 1_800_000_000_000, maxCallers: 100 });
  const take = (id: string) => store.take({ id, quota: PLANS.FREE }, 1, 'counted');
  for (const id of ['idle', 'busy']) for (let i = 0; i < 10; i++) take(id);
  for (let i = 0; i < 150; i++) {
    take(`flood ${i}`);
    take('busy');
  }
  expect(take('busy').verdict).toBe('banned');
  expect(take('idle').windows[0].remaining).toBe(59);
});
