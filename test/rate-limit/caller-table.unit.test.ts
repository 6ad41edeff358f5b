import { CallerTable } from '../../src/rate-limit/caller-table';
import { MINUTE_MS, PLANS } from '../../src/rate-limit/plans';
import { type RequestKind, take } from '../../src/rate-limit/rules';
import { BANS } from './scenarios';

const START = 1_800_000_000_000;

/** A request of each of `count` callers, the first at `now`, then every `interval` ms. */
function ask(
  table: CallerTable,
  name: string,
  count: number,
  { now = START, interval = 0, cost = 1, kind = 'counted' as RequestKind } = {},
): void {
  for (let i = 0; i < count; i++) {
    const at = now + i * interval;
    const state = table.get(`${name} ${i}`) ?? table.add(`${name} ${i}`, at);
    take(state, PLANS.FREE, cost, kind, BANS, at);
  }
}

test('callers are dropped as new ones come, once all their windows have ended', () => {
  const table = new CallerTable(1_000_000);
  ask(table, 'old', 1000, { interval: MINUTE_MS });
  expect(table.size).toBe(1000);
  ask(table, 'new', 300, { now: START + 86_400_000 + 1000 * MINUTE_MS });
  expect(table.size).toBe(300);
});

test('a flood of addresses fills the table to its limit, and displaces only itself', () => {
  const table = new CallerTable(1000);
  ask(table, 'customer', 20, { cost: 40 });
  for (let i = 0; i < 620; i++) ask(table, 'offender', 1, { kind: 'free' });
  ask(table, 'flood', 20_000, { interval: 1 });
  expect(table.size).toBeLessThanOrEqual(1000);
  for (let i = 0; i < 20; i++) expect(table.get(`customer ${i}`)?.dayUsed).toBe(40);
  expect(table.get('offender 0')?.bannedUntil).toBeGreaterThan(START);
});

test('a ban outlives any flood, even of banned callers; afterwards the caller may be dropped', () => {
  const table = new CallerTable(10);
  for (let i = 0; i < 50 * 80; i++) ask(table, `banned ${Math.floor(i / 80)}`, 1);
  ask(table, 'flood', 1000, { interval: 1 });
  for (let i = 0; i < 50; i++) expect(table.get(`banned ${i} 0`)?.bannedUntil).toBe(START + MINUTE_MS);
  expect(table.size).toBeLessThan(60);
  ask(table, 'later', 1000, { now: START + MINUTE_MS, interval: 1 });
  expect(table.size).toBeLessThanOrEqual(10);
});
