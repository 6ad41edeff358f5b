import { statement } from '../../src/database/statement';
import { bearer, type IdentityProvider, startWithProvider } from '../access/identity-provider';
import { fillShop, truncate } from '../helper/database';
import { FeedStream } from '../helper/feed';
import { ADMIN_KEY, type Gateway, type Json, makeAdminKey } from '../helper/gateway';
import { running } from '../helper/live';
import { until } from '../helper/until';
import { ask } from '../http/client';

const KEY = { 'x-api-key': ADMIN_KEY };

let gateway: Gateway;
let provider: IdentityProvider;
let url: string;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ gateway, provider, stop } = await startWithProvider({ MAX_SUBSCRIPTIONS_PER_CALLER: '10' }));
  url = await gateway.listen();
});
beforeEach(async () => {
  await truncate(gateway.database);
  await makeAdminKey(gateway.database);
  await fillShop(gateway.database);
  await sql('delete from events');
});
const streams: FeedStream[] = [];
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.stop();
  await until(async () => (await running(gateway)) === 0);
  jest.restoreAllMocks();
});
afterAll(() => stop());

const sql = (text: string, values: unknown[] = []) => gateway.database.serviceSession().query(statement(text), values);
const open = async (path = '/events', headers: object = KEY) => {
  const stream = await FeedStream.open(url, { path, headers });
  streams.push(stream);
  return stream;
};
const rename = (...names: string[]) =>
  gateway.data(`mutation { ${names.map((name, i) => `a${i}: updatePet(id: 1, input: { name: "${name}" }) { id }`)} }`);
/** Writes events without announcing them. */
const write = (count: number) =>
  sql(`insert into events (topic, kind, object_id) select 'pet', 'UPDATED', n from generate_series(1, $1::int) as n`, [
    count,
  ]);
const pages = async () => (await ask(gateway, 'GET /events?limit=100', { headers: KEY })).json as unknown as Json[];
const remaining = async (headers: object) =>
  Number((await ask(gateway, 'GET /rate_limit', { headers: { ...headers } })).headers['x-ratelimit-remaining']);
const objects = ({ events }: FeedStream) => events.map(({ data }) => Number(data.objectId));
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe('a stream of the feed', () => {
  test('has the rows of the pages, oldest first, and then each change as it is made', async () => {
    await rename('Max');
    await gateway.data('mutation { deletePet(id: 3) { id } }');
    const stream = await (await open()).until(2);
    await gateway.data('mutation { setInventory(petId: 1, input: { quantity: 9 }) { petId } }');
    await stream.until(3);
    await gateway.createKey();
    await stream.until(4);
    expect(stream.said).toEqual([
      'PET UPDATED 1',
      'PET DELETED 3',
      'INVENTORY UPDATED 1',
      expect.stringMatching(/^API_KEY CREATED/),
    ]);
    expect(stream.events.map(({ data }) => data)).toEqual(await pages());
    expect(stream.events.map(({ id }) => id)).toEqual(stream.events.map(({ data }) => data.cursor));
    for (const block of stream.blocks) expect(block).toMatch(/^(:|id: [\w-]+\ndata: \{.*\}$)/);
    const { headers } = stream.response;
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-stability': 'experimental',
    });
  });

  test('has only the topics and kinds that it asks for', async () => {
    await rename('Max');
    const stream = await open('/events?topic=inventory&topic=pet&kind=deleted');
    await rename('Rex');
    await gateway.data('mutation { deletePet(id: 2) { id } }');
    await stream.until(1);
    await gateway.data('mutation { removeInventory(petId: 1) { petId } }');
    await stream.until(2);
    expect(stream.said).toEqual(['PET DELETED 2', 'INVENTORY DELETED 1']);
  });

  test('goes on after the cursor, or after Last-Event-ID, which wins', async () => {
    await write(4);
    const cursors = (await pages()).map(({ cursor }) => String(cursor));
    const said = async (path: string, headers = {}) => {
      const stream = await open(path, { ...KEY, ...headers });
      await until(() => stream.blocks.some((block) => block.includes(`id: ${cursors[3]}`)));
      return objects(stream);
    };
    expect(await said(`/events?cursor=${cursors[1]}`)).toEqual([3, 4]);
    expect(await said('/events', { 'last-event-id': cursors[2] })).toEqual([4]);
    expect(await said(`/events?cursor=${cursors[0]}`, { 'last-event-id': cursors[2] })).toEqual([4]);
    expect(await said('/events?cursor=now', { 'last-event-id': cursors[1] })).toEqual([3, 4]);
    expect(await said(`/events?cursor=${cursors[1]}`, { 'last-event-id': '' })).toEqual([3, 4]);
  });

  test('at `now` begins with the cursor of the end, so that a client that connects again misses nothing', async () => {
    await write(2);
    const stream = await open('/events?cursor=now');
    // The first comment of an idle stream comes after 12 seconds.
    await until(() => stream.lastId !== '', 5);
    stream.stop();
    await rename('Max');
    const again = await open('/events?cursor=now', { ...KEY, 'last-event-id': stream.lastId });
    await again.until(1);
    expect([stream.said, again.said]).toEqual([[], ['PET UPDATED 1']]);
  });

  test('reads what another instance has committed, within about a second and without a message', async () => {
    const stream = await open();
    await write(1);
    const start = performance.now();
    await stream.until(1);
    expect(performance.now() - start).toBeLessThan(2500);
  });

  test('sends every event once to a reader that is far behind, and other readers get their events in the meantime', async () => {
    await write(1500);
    const { headers } = await gateway.createKey();
    const behind = await Promise.all([open('/events', headers), open('/events', headers)]);
    const other = await open('/events?cursor=now');
    await rename('Max');
    await other.until(1);
    expect(Math.min(...behind.map(({ events }) => events.length))).toBeLessThan(1500);
    for (const stream of behind) expect(objects(await stream.until(1501))).toEqual([...numbers(1500), 1]);
  });

  test('counts as one request, however much it reads', async () => {
    const { headers } = await gateway.createKey();
    const before = await remaining(headers);
    await write(250);
    const stream = await (await open('/events', headers)).until(250);
    await rename('Max', 'Rex');
    await stream.until(252);
    expect(await remaining(headers)).toBe(before - 1);
    expect(await gateway.metric('subscriptions')).toBe(1);
  });
});

describe('a stream is refused', () => {
  test.each([
    ['for a parameter that it does not have', '/events?limit=5', {}, 400, 'BAD_USER_INPUT', ['limit']],
    ['for a cursor that is none', '/events?cursor=x', {}, 400, 'BAD_USER_INPUT', ['cursor']],
    ['for a Last-Event-ID that is none', '/events', { 'last-event-id': 'x' }, 400, 'BAD_USER_INPUT', ['Last-Event-ID']],
    ['without the scope', '/events?topic=api_key', { 'x-api-key': '' }, 401, 'UNAUTHENTICATED', undefined],
    ['with a wrong key', '/events', { 'x-api-key': 'wrong' }, 401, 'UNAUTHENTICATED', undefined],
  ])('%s', async (_name, path, headers, status, code, paths) => {
    const { status: got, error } = await (await open(path, { ...KEY, ...headers })).untilOver();
    expect([got, error?.code, error?.details?.map(({ path }) => path)]).toEqual([status, code, paths]);
    if (paths) expect(error?.message).toContain(paths[0]);
  });

  test('with 410 where its events are no longer kept, and the oldest cursor works', async () => {
    await write(3);
    const [first] = await pages();
    await sql('delete from events where position <= (select min(position) + 1 from events)');
    for (const [path, headers, name] of [
      [`/events?cursor=${first?.cursor}`, {}, 'cursor'],
      ['/events', { 'last-event-id': String(first?.cursor) }, 'Last-Event-ID'],
    ] as const) {
      const { status, error } = await (await open(path, { ...KEY, ...headers })).untilOver();
      expect([status, error]).toMatchObject([410, { code: 'CURSOR_EXPIRED', details: [{ path: name }] }]);
      const [detail] = (error?.details ?? []) as unknown as { params: { oldest: string } }[];
      const stream = await (await open('/events', { ...KEY, 'last-event-id': detail?.params.oldest })).until(1);
      expect(objects(stream)).toEqual([3]);
    }
  });

  test('beyond the live operations that a caller may have, and when its quota is used up', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 11, perDay: 1000 });
    for (let i = 0; i < 10; i++) await open('/events', headers);
    expect((await (await open('/events', headers)).untilOver()).error?.code).toBe('RATE_LIMITED');
    streams.pop();
    streams.pop()?.stop();
    await until(async () => (await running(gateway)) === 9);
    const { status, error, response } = await (await open('/events', headers)).untilOver();
    expect([status, error?.code, Number(response.headers['retry-after']) > 10]).toEqual([429, 'RATE_LIMITED', true]);
  });
});

describe('the media type', () => {
  test.each([
    ['text/event-stream', 'text/event-stream'],
    ['text/event-stream, application/json;q=0.5', 'text/event-stream'],
    ['application/json, text/event-stream', 'application/json'],
    ['*/*', 'application/json'],
  ])('of Accept: %s is %s', async (accept, type) => {
    const stream = await open('/events', { ...KEY, accept });
    expect(stream.response.headers['content-type']).toContain(type);
    stream.stop();
  });

  test('is no other, and no other list is streamed', async () => {
    const answer = (path: string, accept: string) => ask(gateway, `GET ${path}`, { headers: { ...KEY, accept } });
    expect((await answer('/events', 'text/html')).error).toMatchObject({
      code: 'NOT_ACCEPTABLE',
      message: 'Responses are application/json or text/event-stream.',
    });
    expect((await answer('/pets', 'text/event-stream')).code).toBe('NOT_ACCEPTABLE');
  });

  test('of HEAD is the media type of a page', async () => {
    const head = await FeedStream.open(url, { method: 'HEAD', headers: KEY });
    await head.untilOver();
    expect([head.status, head.response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  });
});

test('scripts of other origins may send Last-Event-ID', async () => {
  const { headers } = await ask(gateway, 'OPTIONS /events', {
    headers: {
      origin: 'https://shop.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'last-event-id,x-api-key',
    },
  });
  expect(headers['access-control-allow-headers']).toContain('last-event-id');
});

describe('a stream ends', () => {
  test('when its key is revoked', async () => {
    const key = await gateway.createKey();
    const [stream, other] = [await open('/events', key.headers), await open()];
    await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: key.id });
    await stream.untilOver();
    expect(stream.blocks.at(-1)).toMatch(/^: UNAUTHENTICATED: /);
    expect([stream.events, other.isOver]).toEqual([[], false]);
    expect((await (await open('/events', key.headers)).untilOver()).status).toBe(401);
  });

  test('when its key loses a scope', async () => {
    const key = await gateway.createKey({ scopes: ['READ', 'WRITE', 'ADMIN'] });
    const stream = await open('/events?topic=api_key', key.headers);
    await gateway.data('mutation ($id: ID!) { updateApiKey(id: $id, input: { scopes: [READ] }) { id } }', {
      id: key.id,
    });
    await stream.untilOver();
    expect(stream.blocks.at(-1)).toMatch(/^: FORBIDDEN: The key no longer has the scope /);
    expect((await (await open('/events?topic=api_key', key.headers)).untilOver()).status).toBe(403);
  });

  test('when its token expires', async () => {
    const token = await provider.sign({ sub: 'ann', exp: Math.floor(Date.now() / 1000) - 27 });
    const stream = await open('/events', bearer(token));
    expect(stream.isOver).toBe(false);
    await stream.untilOver();
    expect(stream.blocks.at(-1)).toMatch(/^: UNAUTHENTICATED: /);
  });

  test('on shutdown, and goes on at another instance', async () => {
    const leaving = await gateway.another();
    const stream = await FeedStream.open(await leaving.listen(), { headers: KEY });
    await rename('Max');
    await stream.until(1);
    await leaving.server.close();
    await stream.untilOver();
    await rename('Rex');
    const again = await open('/events', { ...KEY, 'last-event-id': stream.lastId });
    expect((await again.until(1)).said).toEqual(['PET UPDATED 1']);
  });

  test('when an older state of the database is restored, and so is refused from then on', async () => {
    const stream = await open();
    await write(2);
    await stream.until(2);
    jest.spyOn(gateway.server.log, 'error').mockImplementation(() => undefined);
    await sql('delete from events where position = (select position from last_event)');
    await sql('update last_event set (position, id, at) = (select position, id, at from events)');
    await write(2);
    await stream.untilOver();
    expect(stream.blocks.at(-1)).toMatch(/^: CURSOR_EXPIRED: /);
    const { status } = await (await open('/events', { ...KEY, 'last-event-id': stream.lastId })).untilOver();
    expect(status).toBe(410);
  });
});

test('a client that does not read is sent only what it reads, and in the end everything once', async () => {
  const stream = await open();
  stream.response.pause();
  await sql(
    `insert into events (topic, kind, object_id) select 'pet', 'UPDATED', n || '.' || repeat('0', 10000) from generate_series(1, 2000) n`,
  );
  await until(async () => (await gateway.metric('unsent_bytes')) > 0);
  expect(await gateway.metric('unsent_bytes')).toBeLessThan(3_000_000);
  stream.response.resume();
  expect(objects(await stream.until(2000, 60))).toEqual(numbers(2000));
}, 90_000);
