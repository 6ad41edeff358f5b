import { CallerTable } from '../../../src/rate-limit/caller-table';
import { MINUTE_MS, PLANS } from '../../../src/rate-limit/plans';
import { type RequestKind, take } from '../../../src/rate-limit/rules';
import { BANS } from '../scenarios';

const START = 1_800_000_000_000;

/** A request of one caller at `now`. */
function ask(table: CallerTable, id: string, now: number, cost = 1, kind: RequestKind = 'counted'): void {
  const state = table.get(id) ?? table.add(id, now);
  take(state, PLANS.FREE, cost, kind, BANS, now);
}

test('callers whose windows have all ended are dropped as new ones come', () => {
  const table = new CallerTable(1_000_000);
  for (let i = 0; i < 1000; i++) ask(table, `old ${i}`, START);
  expect(table.size).toBe(1000);
  const nextDay = START + 86_400_000;
  for (let i = 0; i < 300; i++) ask(table, `new ${i}`, nextDay);
  expect(table.size).toBe(300);
});

test('callers whose day has not ended are kept', () => {
  const table = new CallerTable(1_000_000);
  for (let i = 0; i < 1000; i++) ask(table, `caller ${i}`, START + i * MINUTE_MS);
  expect(table.size).toBe(1000);
});

test('a flood of addresses fills the table to its limit, and displaces only its own', () => {
  const table = new CallerTable(1000);
  for (let i = 0; i < 20; i++) ask(table, `customer ${i}`, START, 40);
  for (let i = 0; i < 600 + 20; i++) ask(table, 'offender', START, 1, 'free');
  for (let i = 0; i < 20_000; i++) ask(table, `flood ${i}`, START + i);
  expect(table.size).toBeLessThanOrEqual(1000);
  for (let i = 0; i < 20; i++) expect(table.get(`customer ${i}`)?.dayUsed).toBe(40);
  expect(table.get('offender')?.bannedUntil).toBeGreaterThan(START);
});

test('a ban outlives any flood, also one of banned callers; then its caller may be forgotten', () => {
  const table = new CallerTable(10);
  const BANNED = 50;
  for (let i = 0; i < BANNED; i++) {
    for (let request = 0; request < 80; request++) ask(table, `banned ${i}`, START);
  }
  for (let i = 0; i < 1000; i++) ask(table, `flood ${i}`, START + i);
  for (let i = 0; i < BANNED; i++) expect(table.get(`banned ${i}`)?.bannedUntil).toBe(START + MINUTE_MS);
  expect(table.size).toBeLessThan(BANNED + 10);
  for (let i = 0; i < 1000; i++) ask(table, `later ${i}`, START + MINUTE_MS + i);
  expect(table.size).toBeLessThanOrEqual(10);
});
