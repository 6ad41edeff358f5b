import { cleanPeriodically } from '../../src/database/cleaning';
import { statement } from '../../src/database/statement';
import { deleteOldEvents } from '../../src/feed/retention';
import { fillShop, truncate } from '../helper/database';
import { type Gateway, makeAdminKey, startGateway } from '../helper/gateway';
import { until } from '../helper/until';
import { type Answer, ask } from '../http/client';

const START = Date.UTC(2026, 10, 28);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({});
});
beforeEach(async () => {
  await truncate(gateway.database);
  await makeAdminKey(gateway.database);
  await fillShop(gateway.database);
  await sql('delete from events');
});
afterAll(() => gateway.close());

const sql = <Row>(text: string, values: unknown[] = []) =>
  gateway.database.serviceSession().query<Row>(statement(text), values);

/** Writes one event for each age in days. @returns the cursor after each. */
async function write(...ages: number[]): Promise<string[]> {
  await sql(
    `insert into events (topic, kind, object_id, at)
      select 'pet', 'CREATED', n, $2::timestamptz - days * interval '1 day'
      from unnest($1::int[]) with ordinality as given(days, n)`,
    [ages, new Date(START)],
  );
  const { json } = await ask(gateway, 'GET /events?limit=100');
  return json.map(({ cursor }) => String(cursor));
}

/** Deletes the events that are older than 30 days. @param left the number of events that are kept. */
async function sweep(left: number): Promise<void> {
  const onError = (error: unknown) => {
    throw error;
  };
  const stop = cleanPeriodically(gateway.database, [deleteOldEvents(30, () => START)], { onError, every: 10 });
  await until(async () => (await sql('select from events')).length === left);
  await stop();
}

const read = (cursor: string | undefined) => ask(gateway, `GET /events?limit=100&cursor=${cursor}`);
/** The ids of the objects that follow a cursor, or the code of the error. */
const after = async (cursor: string | undefined) => {
  const { code, json } = await read(cursor);
  return code ?? json.map(({ objectId }) => objectId).join(' ');
};
const end = async () => {
  const { events } = await gateway.data('{ events(after: "now") { pageInfo { endCursor } } }');
  return String(events?.pageInfo?.endCursor);
};

/** The cursor that the error of an expired cursor names. */
function oldestIn({ error }: Answer): string | undefined {
  const [detail] = (error?.details ?? []) as unknown as { params: { oldest: string } }[];
  return detail?.params.oldest;
}

test('a cursor works as long as the events that follow it are kept', async () => {
  const cursors = await write(40, 39, 38, 2, 1);
  await sweep(2);
  expect(await Promise.all(cursors.map(after))).toEqual(['CURSOR_EXPIRED', 'CURSOR_EXPIRED', '4 5', '5', '']);
});

test('an expired cursor is 410, and names a cursor from which the oldest kept event is next', async () => {
  const cursors = await write(40, 39, 2, 1);
  await sweep(2);
  const answer = await read(cursors[0]);
  const { status, error, headers } = answer;
  expect([status, error?.code, headers.link]).toEqual([410, 'CURSOR_EXPIRED', expect.stringContaining('/docs/errors')]);
  const oldest = oldestIn(answer);
  // The parameter has another name in GraphQL.
  expect(error?.message).not.toContain('after:');
  expect(error?.details).toEqual([
    { path: 'cursor', message: expect.any(String), params: { oldest: expect.any(String) } },
  ]);
  expect(await after(oldest)).toBe('3 4');
  const { errors, data } = await gateway.graphql(`{ events(after: "${cursors[0]}") { nodes { id } } }`);
  expect(data).toEqual({ events: null });
  expect(errors[0]?.extensions).toMatchObject({
    code: 'CURSOR_EXPIRED',
    status: 410,
    details: [{ path: 'after', params: { oldest } }],
  });
});

test('a consumer that is up to date does not expire, even if every event is deleted', async () => {
  const [first, last] = await write(40, 39);
  expect(await end()).toBe(last);
  await sweep(0);
  expect(await after(last)).toBe('');
  expect(await end()).toBe(last);
  const expired = await read(first);
  expect(expired.code).toBe('CURSOR_EXPIRED');
  await write(1, 1);
  expect(await after(last)).toBe('1 2');
  expect(await after(oldestIn(expired))).toBe('1 2');
  expect(await after(first)).toBe('CURSOR_EXPIRED');
});

test('a cursor that was taken before the first event works after it', async () => {
  const before = await end();
  expect(await after(before)).toBe('');
  await write(2, 1);
  expect(await after(before)).toBe('1 2');
});

describe('after an older state is restored', () => {
  /** Removes the last events, as a restore does, with the state of the feed. */
  const restore = async (position: number) => {
    await sql('delete from events where position > $1', [position]);
    await sql(
      'update last_event set (position, id, at) = (select position, id, at from events where position = $1::bigint)',
      [position],
    );
  };

  test('cursors of the kept state go on, and all others expire, whether or not there are events at their positions', async () => {
    const cursors = await write(5, 4, 3, 2, 1);
    await restore(3);
    expect(await Promise.all(cursors.map(after))).toEqual(['2 3', '3', '', 'CURSOR_EXPIRED', 'CURSOR_EXPIRED']);
    await write(0, 0, 0, 0);
    expect(await Promise.all(cursors.map(after))).toEqual([
      '2 3 1 2 3 4',
      '3 1 2 3 4',
      '1 2 3 4',
      'CURSOR_EXPIRED',
      'CURSOR_EXPIRED',
    ]);
  });

  test('a cursor of an empty feed expires in another one', async () => {
    const before = await end();
    await sql('delete from last_event');
    await sql(`insert into last_event (at) values (now() + interval '1 minute')`);
    expect(await after(before)).toBe('CURSOR_EXPIRED');
  });
});
