import type { Change } from '../../src/database/changes';
import { TooSlow } from '../../src/events/feed';
import { type ChangeEvent, Hub } from '../../src/events/hub';
import type { PetRow } from '../../src/petstore/rows';

const pet = (id: bigint, name: string): PetRow => ({ id, name, status: 'available', categoryId: 1n });
const updated = (id: bigint): Change => ({ topic: 'pet', kind: 'UPDATED', id });
const nothing = async () => new Map();

/** A hub over a store of pets, with its reads recorded. */
function hubOf(pets: Map<bigint, PetRow>, maxWaiting?: number) {
  const reads: bigint[][] = [];
  let fail: Error | undefined;
  const read = async (ids: readonly bigint[]) => {
    reads.push([...ids]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (fail) throw fail;
    return new Map([...pets].filter(([id]) => ids.includes(id)));
  };
  const hub = new Hub({ pet: read, order: nothing, inventory: nothing }, maxWaiting);
  return { hub, reads, failWith: (error: Error) => (fail = error) };
}

const all = () => true;
const take = async (feed: AsyncIterator<ChangeEvent<'pet'>>, count: number) => {
  const names: string[] = [];
  for (let i = 0; i < count; i++) names.push((await feed.next()).value.row.name);
  return names;
};

test('without subscribers changes cost nothing, and are not kept', async () => {
  const { hub, reads } = hubOf(new Map([[1n, pet(1n, 'Rex')]]));
  hub.notify(updated(1n));
  const feed = hub.subscribe('pet', all);
  hub.notify({ topic: 'order', kind: 'CREATED', id: 1n });
  hub.notify(updated(1n));
  expect(await take(feed, 1)).toEqual(['Rex']);
  expect(reads).toEqual([[1n]]);
});

test('rows are read once for all subscribers, and together for all changes that arrived in the meantime', async () => {
  const pets = new Map([1n, 2n, 3n].map((id) => [id, pet(id, `p${id}`)] as const));
  const { hub, reads } = hubOf(pets);
  const feeds = Array.from({ length: 50 }, () => hub.subscribe('pet', all));
  for (const id of [1n, 2n, 3n, 2n]) hub.notify(updated(id));
  for (const feed of feeds) expect(await take(feed, 4)).toEqual(['p1', 'p2', 'p3', 'p2']);
  expect(reads).toEqual([[1n], [2n, 3n]]);
  expect(hub.delivered).toBe(200);
});

test('the last event for a row has its final state', async () => {
  const pets = new Map([[1n, pet(1n, 'first')]]);
  const { hub } = hubOf(pets);
  const feed = hub.subscribe('pet', all);
  hub.notify(updated(1n));
  pets.set(1n, pet(1n, 'last'));
  hub.notify(updated(1n));
  expect((await take(feed, 2)).at(-1)).toBe('last');
});

test('if a row is already gone only its deletion is delivered, with the row as it was', async () => {
  const { hub } = hubOf(new Map());
  const feed = hub.subscribe('pet', all);
  hub.notify({ topic: 'pet', kind: 'CREATED', id: 1n });
  hub.notify({ topic: 'pet', kind: 'DELETED', id: 1n, before: pet(1n, 'Gone') });
  expect((await feed.next()).value).toMatchObject({ kind: 'DELETED', row: { name: 'Gone' } });
});

test('a slow subscriber is ended, and holds up nobody', async () => {
  const { hub } = hubOf(new Map([[1n, pet(1n, 'Rex')]]), 2);
  const slow = hub.subscribe('pet', all);
  const quick = hub.subscribe('pet', all);
  for (let i = 0; i < 4; i++) {
    hub.notify(updated(1n));
    expect(await take(quick, 1)).toEqual(['Rex']);
  }
  expect([hub.tooSlow, hub.subscribers]).toEqual([1, 1]);
  await expect(slow.next()).rejects.toThrow();
});

test('when changes come faster than their rows are read, all subscribers are ended and counted', async () => {
  const { hub } = hubOf(new Map([[1n, pet(1n, 'Rex')]]));
  const feeds = [hub.subscribe('pet', all), hub.subscribe('pet', all)];
  for (let i = 0; i < 10_002; i++) hub.notify(updated(1n));
  expect([hub.tooSlow, hub.subscribers]).toEqual([2, 0]);
  for (const feed of feeds) await expect(feed.next()).rejects.toBeInstanceOf(TooSlow);
});

test('a subscriber gets an error if a change cannot be read', async () => {
  const { hub, failWith } = hubOf(new Map());
  const feed = hub.subscribe('pet', all);
  failWith(new Error('no database'));
  hub.notify(updated(1n));
  await expect(feed.next()).rejects.toThrow('no database');
  expect(hub.subscribers).toBe(0);
});

test('changes unknown to this version of the gateway are ignored', () => {
  const { hub } = hubOf(new Map());
  expect(() => hub.notify({ topic: 'toy', kind: 'CREATED', id: 1n } as unknown as Change)).not.toThrow();
});
