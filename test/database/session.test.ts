import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import { Client } from 'pg';
import type { Database, Session, Transaction } from '../../src/database/database';
import { type Failure, failureOf } from '../../src/database/failures';
import { PrismaClient } from '../../src/database/generated/client';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { createDatabase, emptyDatabase, TEST_DATABASE_URL } from '../helper/database';
import { until } from '../helper/until';

const onPostgres = TEST_DATABASE_URL ? test : test.skip;

let database: Database;
let url: string | undefined;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, url, drop } = await createDatabase());
});
beforeEach(async () => {
  await emptyDatabase(database);
  await database.prisma.category.create({
    data: { name: 'Dogs', pets: { create: [{ name: 'Rex' }, { name: 'Max' }] } },
  });
});
afterAll(() => drop());

const sql = <Row>(session: Session, text: string, ...values: unknown[]) => session.query<Row>(statement(text), values);
const names = async () =>
  (await sql<{ name: string }>(database, 'select name from pets order by id')).map(({ name }) => name);
const rename = (session: Session, id: number, name: string) =>
  sql(session, 'update pets set name = $2 where id = $1', id, name);

describe('a statement', () => {
  const ROW = {
    large: 9223372036854775807n,
    small: 7,
    moment: new Date('0099-12-31T23:59:59.999Z'),
    text: '🐕',
    flag: true,
    nothing: null,
    many: [1n, 2n],
  };
  const TEXT =
    'select $1::bigint as large, $2::int as small, $3::timestamptz as moment, $4::text as text, $5::boolean as flag, $6::text as nothing, ' +
    'array(select unnest($7::bigint[]) order by 1) as many';
  const { many: _, ...scalars } = ROW;

  test('passes values in and out unchanged', async () => {
    const [row] = await sql<typeof ROW>(database, TEXT, ...Object.values(ROW));
    expect(row).toMatchObject({ ...scalars, moment: expect.anything() });
    expect(row?.moment.toISOString()).toBe(ROW.moment.toISOString());
  });

  test('passes the same in a transaction', async () => {
    await database.transaction(async (session) => {
      const [row] = await sql<typeof ROW>(session, TEXT, ...Object.values(ROW));
      expect(row).toEqual(ROW);
    });
  });

  test('and Prisma agree on points in time', async () => {
    const shipDate = new Date('1850-06-01T12:00:00.001Z');
    await database.prisma.order.create({ data: { shipDate } });
    await sql(database, 'insert into orders (ship_date) values ($1)', shipDate);
    const spelled = `to_char(ship_date at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as moment`;
    expect(await sql(database, `select ${spelled} from orders`)).toEqual(
      Array(2).fill({ moment: '1850-06-01 12:00:00.001' }),
    );
    expect((await database.prisma.order.findMany()).map((order) => order.shipDate)).toEqual([shipDate, shipDate]);
  });

  onPostgres("means the same point in time whatever the server's time zone", async () => {
    const name = new URL(url ?? '').pathname.slice(1);
    await sql(database, `alter database ${name} set timezone to 'America/New_York'`);
    const other = await openDatabase({ url, directory: '' });
    try {
      const shipDate = new Date('2026-11-21T09:30:00.000Z');
      const { id } = await other.transaction(({ prisma }) => prisma.order.create({ data: { shipDate } }));
      const [row] = await sql<{ shipDate: Date }>(
        database,
        'select ship_date as "shipDate" from orders where id = $1',
        id,
      );
      expect(row).toEqual({ shipDate });
      expect(await other.prisma.order.findFirst()).toMatchObject({ shipDate });
    } finally {
      await other.close();
      await sql(database, `alter database ${name} reset timezone`);
    }
  });
});

describe('a transaction', () => {
  test('commits its changes, by statements and by Prisma', async () => {
    const answer = await database.transaction(async (session) => {
      await rename(session, 1, 'Ace');
      await session.prisma.pet.update({ where: { id: 2 }, data: { name: 'Bo' } });
      return 'done';
    });
    expect(answer).toBe('done');
    expect(await names()).toEqual(['Ace', 'Bo']);
  });

  test('rolls everything back when it throws, and rethrows', async () => {
    const refusal = new Error('no');
    const work = database.transaction(async (session) => {
      await rename(session, 1, 'Ace');
      await session.prisma.pet.delete({ where: { id: 2 } });
      throw refusal;
    });
    await expect(work).rejects.toBe(refusal);
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test('inside another is rolled back alone', async () => {
    await database.transaction(async (session) => {
      await rename(session, 1, 'Ace');
      const inner = session.transaction(async (nested) => {
        await rename(nested, 2, 'Bo');
        await sql(nested, 'insert into pets (name, category_id) values ($1, $2)', '', 1);
      });
      await expect(inner).rejects.toThrow();
      await session.transaction((nested) => rename(nested, 2, 'Cy'));
    });
    expect(await names()).toEqual(['Ace', 'Cy']);
  });

  test('does not mix with concurrent ones', async () => {
    const works = Array.from({ length: 12 }, (_, index) =>
      database.transaction(async (session) => {
        await sql(session, 'insert into pets (name, category_id) values ($1, 1)', `Pet ${index}`);
        await sql(session, 'select 1');
        if (index % 2) throw new Error('no');
      }),
    );
    const beside = sql(database, 'insert into pets (name, category_id) values ($1, 1)', 'Beside');
    await Promise.allSettled([...works, beside]);
    const expected = ['Rex', 'Max', 'Beside', ...[0, 2, 4, 6, 8, 10].map((index) => `Pet ${index}`)];
    expect((await names()).sort()).toEqual(expected.sort());
  });

  onPostgres('that loses a deadlock is retried, and both succeed', async () => {
    let attempts = 0;
    const locked = { first: 0, both: () => {} };
    const bothHold = new Promise<void>((resolve) => {
      locked.both = resolve;
    });
    const swap = (first: number, second: number, name: string) =>
      database.transaction(async (session) => {
        attempts++;
        await rename(session, first, name);
        if (++locked.first === 2) locked.both();
        await bothHold;
        await rename(session, second, name);
      });
    await Promise.all([swap(1, 2, 'Ace'), swap(2, 1, 'Bo')]);
    expect(attempts).toBe(3);
    const [first, second] = await names();
    expect(['Ace', 'Bo']).toContain(first);
    expect(second).toBe(first);
  });

  onPostgres('that fails to serialise is retried', async () => {
    let attempts = 0;
    const add = (name: string) =>
      database.transaction(async (session) => {
        attempts++;
        await sql(session, 'set transaction isolation level serializable');
        const [{ count } = { count: 0 }] = await sql<{ count: number }>(
          session,
          'select count(*)::int as count from pets',
        );
        await new Promise((resolve) => setTimeout(resolve, 50));
        await sql(session, 'insert into pets (name, category_id) values ($1, 1)', `${name} ${count}`);
      });
    await Promise.all([add('Pet'), add('Pet')]);
    expect(attempts).toBeGreaterThan(2);
    expect((await names()).slice(2)).toEqual(['Pet 2', 'Pet 3']);
  });
});

describe('a database failure is classified', () => {
  const FAILURES: [Failure, string, (session: Transaction | Database) => Promise<unknown>][] = [
    [
      'foreign-key',
      'a reference to a missing row',
      (s) => sql(s, `insert into pets (name, category_id) values ('a', 99)`),
    ],
    [
      'foreign-key',
      'a reference to a missing row, by Prisma',
      ({ prisma }) => prisma.pet.create({ data: { name: 'a', categoryId: 99 } }),
    ],
    ['foreign-key', 'a deletion of a referenced row', (s) => sql(s, 'delete from categories')],
    [
      'foreign-key',
      'a deletion of a referenced row, by Prisma',
      ({ prisma }) => prisma.category.delete({ where: { id: 1 } }),
    ],
    ['check', 'stock below 0', (s) => sql(s, 'insert into inventory values (1, -1)')],
    [
      'check',
      'stock below 0, by Prisma',
      ({ prisma }) => prisma.inventory.create({ data: { petId: 1, quantity: -1 } }),
    ],
    ['check', 'an order of no units', (s) => sql(s, 'insert into orders (quantity) values (0)')],
    ['check', 'an empty name', (s) => sql(s, `update pets set name = ''`)],
    ['check', 'a name of 256 characters', ({ prisma }) => prisma.pet.updateMany({ data: { name: 'x'.repeat(256) } })],
    ['unique', 'a duplicate id', (s) => sql(s, `insert into categories (id, name) values (1, 'a')`)],
    ['unique', 'a duplicate id, by Prisma', ({ prisma }) => prisma.category.create({ data: { id: 1, name: 'a' } })],
    [
      'not-found',
      'an update of a missing row',
      ({ prisma }) => prisma.pet.update({ where: { id: 99 }, data: { name: 'a' } }),
    ],
    ['not-found', 'a deletion of a missing row', ({ prisma }) => prisma.pet.delete({ where: { id: 99 } })],
  ];

  test.each(FAILURES)('%s: %s', async (failure, _what, run) => {
    const alone = await run(database).catch((error: unknown) => error);
    expect(failureOf(alone)).toBe(failure);
    const within = await database.transaction(run).catch((error: unknown) => error);
    expect(failureOf(within)).toBe(failure);
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test.each<[string, unknown]>([
    ['an SQL error in our code', 'select nothing from nowhere'],
    ['a value that does not fit its type', `select 'x'::int`],
  ])('not classified: %s', async (_what, text) => {
    const error = await sql(database, String(text)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: expect.any(String) });
    expect(failureOf(error)).toBeUndefined();
  });

  test.each([undefined, null, 'P2002', 42, new Error('no'), { code: 23505 }, { code: 'EACCES' }])(
    'not classified: %p',
    (error) => {
      expect(failureOf(error)).toBeUndefined();
    },
  );

  test('unavailable: no server listens', async () => {
    const closed = 'postgresql://shop:secret@127.0.0.1:1/petstore';
    const refused = await openDatabase({ url: closed, directory: '' }).catch((error: unknown) => error);
    expect(failureOf(refused)).toBe('unavailable');
    expect((refused as Error).message).toBe(
      'PostgreSQL at 127.0.0.1:1/petstore cannot be opened: connect ECONNREFUSED 127.0.0.1:1',
    );
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: closed }) });
    expect(failureOf(await prisma.pet.findMany().catch((error: unknown) => error))).toBe('unavailable');
    await prisma.$disconnect();
  });

  test.each(['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'])(
    'unavailable: a host that cannot be reached (%s)',
    async (code) => {
      const error = Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect', errno: -1 });
      const config = { host: '192.0.2.1', stream: () => unreachable(error) };
      const alone = await new Client(config).connect().catch((thrown: unknown) => thrown);
      expect(failureOf(alone)).toBe('unavailable');
      const prisma = new PrismaClient({ adapter: new PrismaPg(config) });
      expect(failureOf(await prisma.pet.findMany().catch((thrown: unknown) => thrown))).toBe('unavailable');
      await prisma.$disconnect();
    },
  );

  test('unavailable: a host with several addresses, none of which listens', async () => {
    const refused = await openDatabase({ url: 'postgresql://localhost:1/petstore', directory: '' }).catch(
      (error: unknown) => error,
    );
    expect(failureOf(refused)).toBe('unavailable');
    expect((refused as Error).message).toMatch(/^PostgreSQL at localhost:1\/petstore cannot be opened: \S/);
  });

  onPostgres('unavailable: a connection that the server ends; the next one works', async () => {
    const own = sql(database, 'select pg_terminate_backend(pg_backend_pid())').catch((error: unknown) => error);
    expect(failureOf(await own)).toBe('unavailable');
    const within = database.transaction(async (session) => {
      await sql(session, 'select pg_terminate_backend(pg_backend_pid())::text');
    });
    expect(failureOf(await within.catch((error: unknown) => error))).toBe('unavailable');
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  onPostgres('unavailable: a dropped database, or a role that may no longer log in', async () => {
    const [gone, stranger] = [new URL(url ?? ''), new URL(url ?? '')];
    gone.pathname = '/petstore_gone';
    stranger.username = 'petstore_stranger';
    for (const { href } of [gone, stranger]) {
      const refused = await openDatabase({ url: href, directory: '' }).catch((error: unknown) => error);
      expect(failureOf(refused)).toBe('unavailable');
      const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: href }) });
      expect(failureOf(await prisma.pet.findMany().catch((error: unknown) => error))).toBe('unavailable');
      await prisma.$disconnect();
    }
  });

  onPostgres('unavailable: a database that accepts no more connections', async () => {
    const name = new URL(url ?? '').pathname.slice(1);
    await sql(database, `alter database ${name} with connection limit 0`);
    const limited = new URL(url ?? '');
    limited.username = `petstore_guest_${process.pid}`;
    await sql(database, `create role ${limited.username} login`);
    try {
      const refused = await openDatabase({ url: limited.href, directory: '' }).catch((error: unknown) => error);
      expect(failureOf(refused)).toBe('unavailable');
    } finally {
      await sql(database, `drop role ${limited.username}`);
      await sql(database, `alter database ${name} with connection limit -1`);
    }
  });

  onPostgres('timeout: a statement that exceeds its time limit', async () => {
    const slow = database.transaction(async (session) => {
      await sql(session, `set local statement_timeout to '20ms'`);
      await sql(session, 'select pg_sleep(5)::text');
    });
    expect(failureOf(await slow.catch((error: unknown) => error))).toBe('timeout');
  });
});

test('a database that answers says that it takes writes', async () => {
  await expect(database.canWrite()).resolves.toBe(true);
});

onPostgres('the question recovers from connections that the database has ended', async () => {
  await database.canWrite();
  await sql(
    database,
    'select pg_terminate_backend(pid)::text from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await until(() =>
    database.canWrite().then(
      () => true,
      () => false,
    ),
  );
});

/** A socket that never connects. */
function unreachable(error: Error): Socket {
  const socket = new Socket();
  socket.connect = () => socket.destroy(error);
  return socket;
}
