import { criteriaOf } from '../../src/database/reading/criteria';
import { Values } from '../../src/database/reading/statement-values';
import { PETS } from '../../src/petstore/tables';

const ids = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i + 1));

/** The ranges of an index in which pets whose name begins with the text are looked for. */
function rangesFor(filters: Record<string, unknown>): number {
  const { within, equal = [] } = criteriaOf(PETS, filters).contained?.beginning ?? {};
  return equal.reduce((product, { values }) => product * values.length, within?.ranges.length ?? 0);
}

test('names are looked for under each value of the other filters, as long as that makes few ranges', () => {
  expect(rangesFor({ name: 'rex' })).toBe(8);
  expect(rangesFor({ name: 'rex', statuses: ['SOLD', 'PENDING'], categoryIds: ids(3) })).toBe(48);
  expect(rangesFor({ name: 'kkkk', statuses: ['SOLD', 'PENDING'], categoryIds: ids(10_000) })).toBe(81);
});

test('the other filters are then tests of the rows', () => {
  const { beginning } = criteriaOf(PETS, { name: 'kkkk', categoryIds: ids(10_000) }).contained ?? {};
  const values = new Values();
  const tests = beginning?.tests.map(({ walked }) => walked(values)) ?? [];
  expect(tests.filter((test) => test.includes('category_id'))).toEqual([expect.stringMatching(/= any\(/)]);
});
