import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import { Client } from 'pg';
import type { ChangeListener, Database, Session, Transaction } from '../../src/database/database';
import { Deadline, Ended } from '../../src/database/deadline';
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
  const pets = { create: [{ name: 'Rex' }, { name: 'Max' }] };
  await database.prisma.category.create({ data: { name: 'Dogs', pets } });
});
afterAll(() => drop());

const service = () => database.serviceSession();
const sql = <Row>(session: Session, text: string, ...values: unknown[]) => session.query<Row>(statement(text), values);
const names = async () =>
  (await sql<{ name: string }>(service(), 'select name from pets order by id')).map(({ name }) => name);
const rename = (session: Session, id: number, name: string) =>
  sql(session, 'update pets set name = $2 where id = $1', id, name);
const addPet = (session: Session, name: string) =>
  sql(session, 'insert into pets (name, category_id) values ($1, 1)', name);
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

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
  const TEXT = `select $1::bigint as large, $2::int as small, $3::timestamptz as moment, $4::text as text,
    $5::boolean as flag, $6::text as nothing, array(select unnest($7::bigint[]) order by 1) as many`;

  test('returns its parameters unchanged, outside and inside a transaction', async () => {
    const { many: _, moment, ...scalars } = ROW;
    const [row] = await sql<typeof ROW>(service(), TEXT, ...Object.values(ROW));
    expect(row).toMatchObject(scalars);
    expect(row?.moment.toISOString()).toBe(moment.toISOString());
    expect(await service().transaction((session) => sql(session, TEXT, ...Object.values(ROW)))).toEqual([ROW]);
  });

  test('stores and reads the same point in time as Prisma', async () => {
    const shipDate = new Date('1850-06-01T12:00:00.001Z');
    await database.prisma.order.create({ data: { shipDate } });
    await sql(service(), 'insert into orders (ship_date) values ($1)', shipDate);
    const text = `select to_char(ship_date at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as moment from orders`;
    expect(await sql(service(), text)).toEqual(Array(2).fill({ moment: '1850-06-01 12:00:00.001' }));
    expect(await database.prisma.order.findMany()).toMatchObject([{ shipDate }, { shipDate }]);
  });

  onPostgres('stores the same point in time in every time zone of the server', async () => {
    const name = new URL(url ?? '').pathname.slice(1);
    await sql(service(), `alter database ${name} set timezone to 'America/New_York'`);
    const other = await openDatabase({ url, directory: '' });
    try {
      const shipDate = new Date('2026-11-21T09:30:00.000Z');
      const { id } = await other
        .serviceSession()
        .transaction(({ prisma }) => prisma.order.create({ data: { shipDate } }));
      const text = 'select ship_date as "shipDate" from orders where id = $1';
      expect(await sql(service(), text, id)).toEqual([{ shipDate }]);
      expect(await other.prisma.order.findFirst()).toMatchObject({ shipDate });
    } finally {
      await other.close();
      await sql(service(), `alter database ${name} reset timezone`);
    }
  });
});

describe('a transaction', () => {
  test('commits changes made by SQL statements and through Prisma', async () => {
    const answer = await service().transaction(async (session) => {
      await rename(session, 1, 'Ace');
      await session.prisma.pet.update({ where: { id: 2 }, data: { name: 'Bo' } });
      return 'done';
    });
    expect(answer).toBe('done');
    expect(await names()).toEqual(['Ace', 'Bo']);
  });

  test('rolls back all changes when its function throws, and rejects with the same error', async () => {
    const refusal = new Error('no');
    const work = service().transaction(async (session) => {
      await rename(session, 1, 'Ace');
      await session.prisma.pet.delete({ where: { id: 2 } });
      throw refusal;
    });
    await expect(work).rejects.toBe(refusal);
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test('inside an outer transaction is committed or rolled back together with the outer transaction', async () => {
    const outer = service().transaction(async (session) => {
      await session.transaction((nested) => rename(nested, 1, 'Ace'));
      await session.transaction((nested) => addPet(nested, ''));
    });
    await expect(outer).rejects.toThrow();
    expect(await names()).toEqual(['Rex', 'Max']);
    await service().transaction((session) => session.transaction((nested) => rename(nested, 2, 'Cy')));
    expect(await names()).toEqual(['Rex', 'Cy']);
  });

  test('is isolated from concurrent transactions and statements', async () => {
    const works = Array.from({ length: 12 }, (_, index) =>
      service().transaction(async (session) => {
        await addPet(session, `Pet ${index}`);
        await sql(session, 'select 1');
        if (index % 2) throw new Error('no');
      }),
    );
    await Promise.allSettled([...works, addPet(service(), 'Beside')]);
    const expected = ['Rex', 'Max', 'Beside', ...[0, 2, 4, 6, 8, 10].map((index) => `Pet ${index}`)];
    expect((await names()).sort()).toEqual(expected.sort());
  });

  onPostgres('that was rolled back to resolve a deadlock is retried, and both transactions succeed', async () => {
    let attempts = 0;
    let renamed = 0;
    const swap = (first: number, second: number, name: string) =>
      service().transaction(async (session) => {
        attempts++;
        await rename(session, first, name);
        renamed++;
        await until(() => renamed > 1);
        await rename(session, second, name);
      });
    await Promise.all([swap(1, 2, 'Ace'), swap(2, 1, 'Bo')]);
    expect(attempts).toBe(3);
    const [first, second] = await names();
    expect(['Ace', 'Bo']).toContain(first);
    expect(second).toBe(first);
  });

  onPostgres('with a serialization failure is retried until it succeeds', async () => {
    let attempts = 0;
    let counted = 0;
    const add = () =>
      service().transaction(async (session) => {
        attempts++;
        await sql(session, 'set transaction isolation level serializable');
        const [row] = await sql<{ count: number }>(session, 'select count(*)::int as count from pets');
        counted++;
        await until(() => counted > 1);
        await addPet(session, `Pet ${row?.count}`);
      });
    await Promise.all([add(), add()]);
    expect(attempts).toBeGreaterThan(2);
    expect((await names()).slice(2)).toEqual(['Pet 2', 'Pet 3']);
  });

  test.each([
    ['always has a serialization failure is retried at most three times', '40001', 4],
    ['times out is not retried', '57014', 1],
  ])('that %s', async (_what, code, expected) => {
    let attempts = 0;
    const work = service().transaction(async (session) => {
      attempts++;
      await sql(session, `do $$ begin raise exception 'again' using errcode = '${code}'; end $$`);
    });
    await expect(work).rejects.toThrow();
    expect(attempts).toBe(expected);
  });
});

describe('a session', () => {
  const sessionFor = (ms: number) => database.sessionFor({ callerId: 'a', deadline: new Deadline(ms) });

  test('whose deadline passes between two statements of a transaction runs no more statements, and rolls back', async () => {
    const work = sessionFor(500).transaction(async (session) => {
      await rename(session, 1, 'Ace');
      await new Promise((resolve) => setTimeout(resolve, 600));
      await rename(session, 2, 'Bo');
    });
    await expect(work).rejects.toBeInstanceOf(Ended);
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test.each<[string, (session: Session) => unknown]>([
    ['read', (session) => sql(session, 'select 1')],
    ['short read', (session) => session.query(statement('select 1'), [], true)],
    ['write', (session) => session.write(statement(`update pets set name = 'Ace'`), [])],
    ['transaction', (session) => session.transaction((inner) => rename(inner, 1, 'Ace'))],
  ])('starts no %s after its deadline', async (_what, run) => {
    const ended = sessionFor(10_000);
    ended.requester.deadline.end();
    await expect((async () => run(ended))()).rejects.toBeInstanceOf(Ended);
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test('publishes a committed change, even if the deadline of the session ends during the commit', async () => {
    const kinds: string[] = [];
    const listener: ChangeListener = ({ kind }) => kinds.push(kind);
    database.listeners.add(listener);
    const session = sessionFor(10_000);
    const work = session.transaction(async (inner) => {
      await rename(inner, 1, 'Ace');
      inner.publishOnCommit({ topic: 'pet', kind: 'UPDATED', id: 1n });
      setTimeout(() => session.requester.deadline.end());
    });
    await errorOf(work);
    database.listeners.delete(listener);
    // The commit may have been sent before or after the deadline ended.
    expect(kinds).toEqual((await names())[0] === 'Ace' ? ['UPDATED'] : []);
  });
});

describe('an error is classified as', () => {
  test.each<[Failure, string, (session: Session & Pick<Transaction, 'prisma'>) => Promise<unknown>]>([
    ['foreign-key', 'a missing reference', (s) => sql(s, `insert into pets (name, category_id) values ('a', 99)`)],
    [
      'foreign-key',
      'a missing reference (Prisma)',
      (s) => s.prisma.pet.create({ data: { name: 'a', categoryId: 99 } }),
    ],
    ['foreign-key', 'a referenced row deleted', (s) => sql(s, 'delete from categories')],
    ['foreign-key', 'a referenced row deleted (Prisma)', (s) => s.prisma.category.delete({ where: { id: 1 } })],
    ['check', 'stock below 0', (s) => sql(s, 'insert into inventory values (1, -1)')],
    ['check', 'stock below 0 (Prisma)', (s) => s.prisma.inventory.create({ data: { petId: 1, quantity: -1 } })],
    ['check', 'an order of no units', (s) => sql(s, 'insert into orders (quantity) values (0)')],
    ['check', 'an empty name', (s) => sql(s, `update pets set name = ''`)],
    ['check', 'a name of 256 characters', (s) => s.prisma.pet.updateMany({ data: { name: 'x'.repeat(256) } })],
    ['unique', 'a duplicate id', (s) => sql(s, `insert into categories (id, name) values (1, 'a')`)],
    ['unique', 'a duplicate id (Prisma)', (s) => s.prisma.category.create({ data: { id: 1, name: 'a' } })],
    ['not-found', 'a missing row updated', (s) => s.prisma.pet.update({ where: { id: 99 }, data: { name: 'a' } })],
    ['not-found', 'a missing row deleted', (s) => s.prisma.pet.delete({ where: { id: 99 } })],
    ['rejected', 'a missing table', (s) => sql(s, 'select nothing from nowhere')],
    ['rejected', 'a missing column', (s) => sql(s, 'select nothing from pets')],
    ['stale', 'a lost statement', (s) => sql(s, 'execute lost')],
  ])('%s: %s', async (failure, _what, run) => {
    expect(failureOf(await errorOf(run(Object.assign(service(), { prisma: database.prisma }))))).toBe(failure);
    expect(failureOf(await errorOf(service().transaction(run)))).toBe(failure);
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test.each(['select from', `select 'x'::int`])('no database failure: %s', async (text) => {
    const error = await errorOf(sql(service(), text));
    expect(error).toMatchObject({ code: expect.any(String) });
    expect(failureOf(error)).toBeUndefined();
  });

  test.each([undefined, null, 'P2002', 42, new Error('no'), { code: 23505 }, { code: 'EACCES' }])(
    'no database failure: %p',
    (error) => {
      expect(failureOf(error)).toBeUndefined();
    },
  );

  /** Expects that the startup and a Prisma client fail to connect to `target`. */
  async function expectUnavailable(target: string, message: string | RegExp): Promise<void> {
    const refused = await errorOf(openDatabase({ url: target, directory: '' }));
    expect(failureOf(refused)).toBe('unavailable');
    expect((refused as Error).message).toMatch(message);
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: target }) });
    expect(failureOf(await errorOf(prisma.pet.findMany()))).toBe('unavailable');
    await prisma.$disconnect();
  }

  test.each([
    [
      'no server listens',
      'shop:secret@127.0.0.1',
      /^PostgreSQL at 127.0.0.1:1\/shop \(DATABASE_URL\) cannot be opened: connect ECONNREFUSED 127.0.0.1:1$/,
    ],
    [
      'no server listens at any address',
      'localhost',
      /^PostgreSQL at localhost:1\/shop \(DATABASE_URL\) cannot be opened: \S/,
    ],
  ])('unavailable: %s', (_what, host, message) => expectUnavailable(`postgresql://${host}:1/shop`, message));

  test.each(['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'])(
    'unavailable: a host that cannot be reached (%s)',
    async (code) => {
      const error = Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect', errno: -1 });
      const stream = () =>
        Object.assign(new Socket(), {
          connect(this: Socket) {
            return this.destroy(error);
          },
        });
      expect(failureOf(await errorOf(new Client({ host: '192.0.2.1', stream }).connect()))).toBe('unavailable');
      const prisma = new PrismaClient({ adapter: new PrismaPg({ host: '192.0.2.1', stream }) });
      expect(failureOf(await errorOf(prisma.pet.findMany()))).toBe('unavailable');
      await prisma.$disconnect();
    },
  );

  onPostgres.each([
    ['a dropped database', { pathname: '/petstore_gone' }],
    ['a role that may not log in', { username: 'petstore_stranger' }],
  ])('unavailable: %s', (_what, change) => expectUnavailable(Object.assign(new URL(url ?? ''), change).href, ''));

  onPostgres('unavailable: a database that accepts no more connections', async () => {
    const name = new URL(url ?? '').pathname.slice(1);
    const guest = `petstore_guest_${process.pid}`;
    await sql(service(), `alter database ${name} with connection limit 0`);
    await sql(service(), `create role ${guest} login`);
    try {
      await expectUnavailable(Object.assign(new URL(url ?? ''), { username: guest }).href, '');
    } finally {
      await sql(service(), `drop role ${guest}`);
      await sql(service(), `alter database ${name} with connection limit -1`);
    }
  });

  onPostgres('unavailable: the server ends a connection, and the next connection works', async () => {
    const end = (session: Session) => sql(session, 'select pg_terminate_backend(pg_backend_pid())::text');
    expect(failureOf(await errorOf(end(service())))).toBe('unavailable');
    expect(failureOf(await errorOf(service().transaction(end)))).toBe('unavailable');
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  onPostgres('timeout: a statement exceeds its time limit', async () => {
    const slow = service().transaction(async (session) => {
      await sql(session, `set local statement_timeout to '20ms'`);
      await sql(session, 'select pg_sleep(5)::text');
    });
    expect(failureOf(await errorOf(slow))).toBe('timeout');
  });
});

test('the write check succeeds if the database accepts writes', () => expect(database.canWrite()).resolves.toBe(true));

onPostgres('the write check recovers after the database has ended its connections', async () => {
  await database.canWrite();
  const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  await sql(service(), `select pg_terminate_backend(pid)::text ${others}`);
  await until(() => database.canWrite().catch(() => false));
});
