import { statement } from '../../src/database/statement';
import { PetService } from '../../src/domain/pet-service';
import { createDatabase } from '../helper/database';

type Opened = Awaited<ReturnType<typeof createDatabase>>;

const PETS = 6_000;
const CATEGORIES = 5;
/** With the eighty-one forms of the text and two statuses, far more ranges than are read. */
const IDS = Array.from({ length: 200 }, (_, i) => BigInt(i + 2));

/** One name in fifty begins with the text, in some case, and another contains it. */
function nameOf(i: number): string {
  if (i % 50 === 0) return `${i % 100 ? 'kkkK' : 'KkkK'} ${i}`;
  return i % 50 === 25 ? `pet ${i} KKKK` : `pet ${i}`;
}

let opened: Opened;
beforeAll(async () => {
  opened = await createDatabase();
  const run = (text: string, ...values: unknown[]) => opened.database.query(statement(text), values);
  await run(
    'insert into categories (name) select $1 || i from generate_series(1, $2::int) as i',
    'category ',
    CATEGORIES,
  );
  const names = Array.from({ length: PETS }, (_, i) => nameOf(i));
  await run(
    `insert into pets (name, category_id, status)
     select name, 1 + i % 5, (array['available', 'pending', 'sold'])[1 + i % 3]::pet_status
     from unnest($1::text[]) with ordinality as named(name, i)`,
    names,
  );
});
afterAll(() => opened.drop());

test.each([false, true])(
  'names are found among many values of other filters, in order (descending: %s)',
  async (descending) => {
    const { database } = opened;
    const filter = { name: 'kkkk', categoryIds: IDS, statuses: ['available' as const, 'sold' as const] };
    const all = await database.prisma.pet.findMany();
    const wanted = all
      .filter(({ name }) => name.toLowerCase().includes('kkkk'))
      .filter(({ categoryId, status }) => categoryId > 1n && status !== 'pending')
      .map(({ name }) => name)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(wanted.length).toBeGreaterThan(100);
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = { first: 40, after, order: 'NAME', descending };
      const { edges, pageInfo } = await new PetService().list(database, filter, page);
      found.push(...edges.map(({ node }) => node.name));
      after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;
    } while (after);
    expect(found).toEqual(descending ? wanted.reverse() : wanted);
  },
);

test('pages of several parents have as many as they may, and those that come first', async () => {
  const { database } = opened;
  const page = { first: 10, order: 'NAME', descending: true };
  const lists = await new PetService().listByCategory(database, [1n, 2n, 3n], { name: 'kkkk' }, page);
  const all = await database.prisma.pet.findMany({ orderBy: [{ id: 'asc' }] });
  for (const [category, { edges }] of lists) {
    const names = all
      .filter(({ name, categoryId }) => categoryId === category && name.toLowerCase().includes('kkkk'))
      .map(({ name }) => name)
      .sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
    expect(edges.map(({ node }) => node.name)).toEqual(names.slice(0, 10));
  }
  expect(lists.size).toBe(3);
});
