import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { FeedStream } from '../helper/feed';
import { type Json, makeAdminKey } from '../helper/gateway';
import { ask } from '../helper/load';
import { GatewayProcess } from '../helper/process';
import { environmentOf } from '../helper/production';
import { HEADERS } from '../helper/traffic';
import { until } from '../helper/until';
import { HAS_REDIS, openRedis } from '../redis/server';

/** For how long writes and failures go on. */
const SECONDS = Number(process.env.FEED_CHAOS_SECONDS ?? 20);
const INSTANCES = 2;
const PETS = 4;

/** An event: its id, and the object that it is about. */
type Seen = readonly [id: number, object: string];

const seen = ({ id, topic, objectId }: Json): Seen => [Number(id), `${topic} ${objectId}`];
/** Random, so that each run interleaves differently. */
const pick = <T>(all: readonly T[]) => all[Math.floor(Math.random() * all.length)] as T;

/** A reader of pages, which goes on from its last cursor after every failure. */
class PageReader {
  readonly seen: Seen[] = [];
  private cursor: string | undefined;

  constructor(private readonly url: () => string) {}

  async read(): Promise<void> {
    const query = this.cursor === undefined ? '' : `&cursor=${this.cursor}`;
    const response = await fetch(`${this.url()}/events?limit=100${query}`, { headers: HEADERS }).catch(() => undefined);
    const events = response?.ok ? ((await response.json().catch(() => undefined)) as Json[] | undefined) : undefined;
    if (!events) return void (await sleep(50));
    this.seen.push(...events.map(seen));
    [, this.cursor] = /cursor=([\w-]+)>; rel="monitor"/.exec(response?.headers.get('link') ?? '') ?? [];
    if (!events.length) await sleep(20);
  }
}

/** A reader of streams, which connects again with its last id. */
class StreamReader {
  readonly seen: Seen[] = [];
  private stream: FeedStream | undefined;
  private lastId = '';

  constructor(private readonly url: () => string) {}

  /** Reads one stream until it ends. */
  async read(): Promise<void> {
    const headers = { ...HEADERS, ...(this.lastId && { 'last-event-id': this.lastId }) };
    const stream = await FeedStream.open(this.url(), { headers }).catch(() => undefined);
    if (!stream) return void (await sleep(50));
    this.stream = stream;
    await until(() => stream.isOver, 600);
    this.seen.push(...stream.events.map(({ data }) => seen(data)));
    this.lastId = stream.lastId || this.lastId;
    if (stream.status !== 200) await sleep(50);
  }

  /** The number of events, including the events of the current stream. */
  get count(): number {
    const { stream } = this;
    return this.seen.length + (stream && !stream.isOver ? stream.events.length : 0);
  }

  disconnect(): void {
    this.stream?.stop();
  }
}

const onServers = TEST_DATABASE_URL && HAS_REDIS ? test : test.skip;

onServers(
  'every reader gets every committed change once and in order, even if processes are killed and transactions stay open',
  async () => {
    const [main, other, redis] = [await createDatabase(), await createDatabase(), await openRedis()];
    await makeAdminKey(main.database);
    const environment = { ...environmentOf(String(main.url), redis.url), MAX_SUBSCRIPTIONS_PER_CALLER: '1000' };
    const gateways = await Promise.all(Array.from({ length: INSTANCES }, () => GatewayProcess.start(environment)));
    const url = () => pick(gateways).url;
    const send = (method: string, path: string, body: object | undefined, id = 'setup') =>
      ask(url(), { method, path, headers: { ...HEADERS, 'x-request-id': id }, body: body && JSON.stringify(body) });

    // One transaction has written an event that never commits. The other one has the oldest id of the whole server.
    const holders = [new Client({ connectionString: main.url }), new Client({ connectionString: other.url })] as const;
    for (const holder of holders) {
      await holder.connect();
      await holder.query('begin');
    }
    await holders[0].query(`insert into events (topic, kind, object_id) values ('pet', 'UPDATED', '0')`);
    await holders[1].query('select pg_current_xact_id()');

    await send('POST', '/categories', { name: 'Dogs' });
    for (let i = 1; i <= PETS; i++) await send('POST', '/pets', { name: 'Rex', categoryId: 1 });

    let isWriting = true;
    let isReading = true;
    const acknowledged: string[] = [];
    const kinds: ((n: number) => readonly [method: string, path: string, body: object])[] = [
      (n) => ['POST', '/pets', { name: `Rex ${n}`, categoryId: 1 }],
      (n) => ['PATCH', `/pets/${1 + (n % PETS)}`, { name: `Max ${n}` }],
      (n) => ['PUT', `/store/inventory/${1 + (n % PETS)}`, { quantity: 1000 + n }],
      (n) => ['POST', '/store/orders', { petId: 1 + (n % PETS), quantity: 1 }],
    ];
    const writers = kinds.map(async (kind, k) => {
      for (let n = 0; isWriting; n++) {
        const id = `write-${k}-${n}`;
        const { status = 0, body } = await send(...kind(n), id);
        if (status >= 400 && status < 500) throw new Error(body);
        if (status >= 200 && status < 300) acknowledged.push(id);
        else await sleep(20);
      }
    });
    const pages = Array.from({ length: 2 }, () => new PageReader(url));
    const streams = Array.from({ length: 4 }, () => new StreamReader(url));
    const reading = [...pages, ...streams].map(async (reader) => {
      while (isReading) await reader.read();
    });

    const killer = new Redis(redis.url);
    let kills = 0;
    const end = Date.now() + SECONDS * 1000;
    while (Date.now() < end) {
      await sleep(1000);
      pick(streams).disconnect();
      for (const type of ['normal', 'pubsub']) await killer.call('client', 'kill', 'type', type, 'skipme', 'yes');
      if (kills * 4000 > SECONDS * 1000 - (end - Date.now())) continue;
      const i = kills++ % INSTANCES;
      await gateways[i]?.stop('SIGKILL');
      gateways[i] = await GatewayProcess.start(environment);
    }
    isWriting = false;
    await Promise.all(writers);

    const observer = new Client({ connectionString: main.url });
    await observer.connect();
    const stored = async () => {
      const { rows } = await observer.query(
        `select id, topic || ' ' || object_id as object, request_id from events where position is not null order by position`,
      );
      return rows as { id: string; object: string; request_id: string }[];
    };
    const { rows: committed } = await observer.query('select count(*)::int as count from events');
    const { count } = committed[0];
    await until(async () => (await stored()).length === count);
    await until(
      () =>
        [...pages.map((reader) => reader.seen.length), ...streams.map((reader) => reader.count)].every(
          (read) => read >= count,
        ),
      60,
    );
    // Repetitions would come after the last event.
    await sleep(500);
    isReading = false;
    for (const reader of streams) reader.disconnect();
    await Promise.all(reading);

    const truth = await stored();
    const expected: Seen[] = truth.map(({ id, object }) => [Number(id), object]);
    expect(kills).toBeGreaterThanOrEqual(Math.floor(SECONDS / 5));
    expect(acknowledged.length).toBeGreaterThan(20 * SECONDS);
    const written = new Set(truth.map(({ request_id }) => request_id));
    expect(acknowledged.filter((id) => !written.has(id))).toEqual([]);
    for (const reader of [...pages, ...streams]) expect(reader.seen).toEqual(expected);
    const last = new Map<string, number>();
    for (const [id, object] of expected) {
      expect(id).toBeGreaterThan(last.get(object) ?? 0);
      last.set(object, id);
    }

    for (const holder of holders) {
      // The transactions have been open all the time.
      await holder.query('rollback');
      await holder.end();
    }
    await observer.end();
    killer.disconnect();
    for (const gateway of gateways) await gateway.stop('SIGKILL');
    await Promise.all([main.drop(), other.drop(), redis.close()]);
  },
  (SECONDS + 120) * 1000,
);
