import type { Change } from '../../src/database/database';
import { type ChangeEvent, Hub, TooSlow } from '../../src/events/hub';

interface Toy {
  readonly id: bigint;
  readonly name: string;
}

let toys: Map<bigint, Toy>;
/** The ids that each call of the hub's reader requested. */
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

test('a subscriber gets only changes of its topic that arrive after it has subscribed', async () => {
  const hub = open();
  hub.notify(updated(1n));
  const feed = subscribe(hub);
  hub.notify({ topic: 'box', kind: 'CREATED', id: 1n });
  // An instance with a later version of the gateway may send an unknown topic.
  hub.notify({ topic: 'robot', kind: 'CREATED', id: 1n } as unknown as Change);
  hub.notify(updated(2n));
  expect(await take(feed, 1)).toEqual(['toy 2']);
  expect(reads).toEqual([[2n]]);
});

test('rows are read once for all subscribers; changes that arrive during a read share the next read', async () => {
  const hub = open();
  const feeds = Array.from({ length: 50 }, () => subscribe(hub));
  for (const id of [1n, 2n, 3n, 2n]) hub.notify(updated(id));
  for (const feed of feeds) expect(await take(feed, 4)).toEqual(['toy 1', 'toy 2', 'toy 3', 'toy 2']);
  expect(reads).toEqual([[1n], [2n, 3n]]);
  expect(hub.delivered).toBe(200);
});

test('the last event of a row has the final state of the row', async () => {
  const hub = open();
  const feed = subscribe(hub);
  hub.notify(updated(1n));
  toys.set(1n, toy(1n, 'last'));
  hub.notify(updated(1n));
  expect((await take(feed, 2)).at(-1)).toBe('last');
});

test('if a row is deleted before it is read, only its deletion is delivered, with its last values', async () => {
  const hub = open();
  const feed = subscribe(hub);
  hub.notify({ topic: 'toy', kind: 'CREATED', id: 9n });
  hub.notify({ topic: 'toy', kind: 'DELETED', id: 9n, before: toy(9n, 'Gone') });
  expect((await feed.next()).value).toMatchObject({ kind: 'DELETED', row: { name: 'Gone' } });
});

test('a slow subscription ends with an error, and does not delay other subscribers', async () => {
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

test('all subscriptions end with an error, and are counted, if changes arrive faster than rows are read', async () => {
  const hub = open();
  const feeds = [subscribe(hub), subscribe(hub)];
  for (let i = 0; i < 10_002; i++) hub.notify(updated(1n));
  expect([hub.tooSlow, hub.subscribers]).toEqual([2, 0]);
  for (const feed of feeds) await expect(feed.next()).rejects.toBeInstanceOf(TooSlow);
});

test('a waiting subscription ends when its subscriber leaves, or when reading the row fails', async () => {
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
