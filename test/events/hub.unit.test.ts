import type { Change } from '../../src/database/changes';
import { TooSlow } from '../../src/events/feed';
import { type ChangeEvent, Hub } from '../../src/events/hub';

/** A row. */
interface Toy {
  readonly id: bigint;
  readonly name: string;
}

let toys: Map<bigint, Toy>;
/** The ids of each read of the hub. */
let reads: bigint[][];
let failure: Error | undefined;
beforeEach(() => {
  toys = new Map([1n, 2n, 3n].map((id) => [id, toy(id, `toy ${id}`)]));
  reads = [];
  failure = undefined;
});

const toy = (id: bigint, name: string): Toy => ({ id, name });
const updated = (id: bigint): Change => ({ topic: 'toy', kind: 'UPDATED', id });

function open(maxWaiting?: number): Hub {
  const read = async (ids: readonly bigint[]) => {
    reads.push([...ids]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (failure) throw failure;
    return new Map([...toys].filter(([id]) => ids.includes(id)));
  };
  const none = async () => new Map();
  return new Hub({ toy: read, box: none }, maxWaiting);
}

const subscribe = (hub: Hub) => hub.subscribe('toy', () => true);

async function take(feed: AsyncIterator<ChangeEvent>, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let i = 0; i < count; i++) names.push(((await feed.next()).value.row as Toy).name);
  return names;
}

test('only changes of the topic since the subscription are delivered', async () => {
  const hub = open();
  hub.notify(updated(1n));
  const feed = subscribe(hub);
  hub.notify({ topic: 'box', kind: 'CREATED', id: 1n });
  // Of a later version on another instance.
  hub.notify({ topic: 'robot', kind: 'CREATED', id: 1n } as unknown as Change);
  hub.notify(updated(2n));
  expect(await take(feed, 1)).toEqual(['toy 2']);
  expect(reads).toEqual([[2n]]);
});

test('rows are read once for all subscribers, and together for the changes that arrive meanwhile', async () => {
  const hub = open();
  const feeds = Array.from({ length: 50 }, () => subscribe(hub));
  for (const id of [1n, 2n, 3n, 2n]) hub.notify(updated(id));
  for (const feed of feeds) expect(await take(feed, 4)).toEqual(['toy 1', 'toy 2', 'toy 3', 'toy 2']);
  expect(reads).toEqual([[1n], [2n, 3n]]);
  expect(hub.delivered).toBe(200);
});

test('the last event for a row has its final state', async () => {
  const hub = open();
  const feed = subscribe(hub);
  hub.notify(updated(1n));
  toys.set(1n, toy(1n, 'last'));
  hub.notify(updated(1n));
  expect((await take(feed, 2)).at(-1)).toBe('last');
});

test('for a row that is deleted already only the deletion is delivered, with its last values', async () => {
  const hub = open();
  const feed = subscribe(hub);
  hub.notify({ topic: 'toy', kind: 'CREATED', id: 9n });
  hub.notify({ topic: 'toy', kind: 'DELETED', id: 9n, before: toy(9n, 'Gone') });
  expect((await feed.next()).value).toMatchObject({ kind: 'DELETED', row: { name: 'Gone' } });
});

test('a slow subscriber is ended, and delays no other', async () => {
  const hub = open(2);
  const [slow, quick] = [subscribe(hub), subscribe(hub)];
  for (let i = 0; i < 4; i++) {
    hub.notify(updated(1n));
    expect(await take(quick, 1)).toEqual(['toy 1']);
  }
  expect([hub.tooSlow, hub.subscribers]).toEqual([1, 1]);
  await expect(slow.next()).rejects.toBeInstanceOf(TooSlow);
  expect(await slow.next()).toEqual({ value: undefined, done: true });
});

test('when changes come faster than their rows are read, all subscribers are ended and counted', async () => {
  const hub = open();
  const feeds = [subscribe(hub), subscribe(hub)];
  for (let i = 0; i < 10_002; i++) hub.notify(updated(1n));
  expect([hub.tooSlow, hub.subscribers]).toEqual([2, 0]);
  for (const feed of feeds) await expect(feed.next()).rejects.toBeInstanceOf(TooSlow);
});

test('a subscriber that leaves or whose change cannot be read stops waiting', async () => {
  const hub = open();
  const [leaving, failing] = [subscribe(hub), subscribe(hub)];
  const next = leaving.next();
  await leaving.return?.();
  expect(await next).toEqual({ value: undefined, done: true });
  expect(hub.subscribers).toBe(1);
  failure = new Error('no database');
  hub.notify(updated(1n));
  await expect(failing.next()).rejects.toThrow('no database');
  expect(hub.subscribers).toBe(0);
});
