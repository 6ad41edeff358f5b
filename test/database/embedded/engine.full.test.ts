import fc from 'fast-check';
import type { Database, Session, Transaction } from '../../../src/database/database';
import { Deadline } from '../../../src/database/deadline';
import { connectTo } from '../../../src/database/embedded/open-embedded';
import { statementOrUnnamed } from '../../../src/database/statement';
import { createDatabase, TEST_DATABASE_URL } from '../../helper/database';
import { startPrepared } from '../../helper/prepared';

const SEEDS = 10;
const RUNS = 20;
const CALLERS = 4;
const LIMIT_MS = 30_000;

/** A statement with its parameters. `own` stands for the table of the caller. */
interface Step {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly isNamed: boolean;
  readonly how: 'read' | 'short-read' | 'write' | 'model';
}

/** How a transaction ends. `late`: its deadline passes during a statement. */
type End = 'commits' | 'throws' | 'is aborted' | 'late' | 'hangs';

type Action =
  | { readonly kind: 'single'; readonly step: Step; readonly isAborted: boolean }
  /** Statements that are sent together. Their results do not depend on each other. */
  | { readonly kind: 'together'; readonly steps: readonly Step[] }
  | { readonly kind: 'nested create'; readonly isValid: boolean }
  | { readonly kind: 'transaction'; readonly steps: readonly Step[]; readonly isPipelined: boolean; readonly end: End };

const INT = fc.constantFrom<unknown>(0, 1, 2, 7, '3', 'x', null);
const TEXT = fc.constantFrom<unknown>('Rex', 'é\n🐕', '', null, 'x'.repeat(20_000));
type Kind = readonly [text: string, values: readonly fc.Arbitrary<unknown>[]];
const CONSTANTS: readonly Kind[] = [
  ['select 1 as one', []],
  ['select $1::int + 1 as next', [INT]],
  ['select 10 / $1::int as part', [INT]],
  ['select $1::text as text, $2::int8 as large', [TEXT, INT]],
  ["select n, repeat('x', 3000) as text from generate_series(1, $1::int) n", [INT]],
  ['selec 1', []],
  ['select missing from own', []],
  ["do $$ begin raise exception 'no' using errcode = 'ZZ001'; end $$", []],
];
const READS: readonly Kind[] = [...CONSTANTS, ['select id, other from own order by id', []]];
const WRITES: readonly Kind[] = [
  ['insert into own (id, other) values ($1::int, $2::int) returning id', [INT, INT]],
  ['insert into own (id, other) select n, n from generate_series(10, 10 + $1::int) n', [INT]],
  ['delete from own where id = $1::int returning id, other', [INT]],
  ['delete from own', []],
  ['update own set other = 1', []],
  ['savepoint s', []],
  ['rollback to savepoint s', []],
];

function stepOf(kinds: readonly Kind[], ...hows: Step['how'][]): fc.Arbitrary<Step> {
  return fc.constantFrom(...kinds).chain(([text, values]) =>
    fc.record({
      text: fc.constant(text),
      values: fc.tuple(...values),
      isNamed: fc.boolean(),
      how: fc.constantFrom(...hows),
    }),
  );
}

const constant = stepOf(CONSTANTS, 'read', 'short-read');
const any = fc.oneof(stepOf(READS, 'read', 'short-read'), stepOf(WRITES, 'write', 'read'));
const model = fc.record<Step>({
  text: fc.constant(''),
  values: fc.tuple(fc.constantFrom('Dogs', '')),
  isNamed: fc.boolean(),
  how: fc.constant('model'),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('single' as const), step: any, isAborted: fc.nat(9).map((n) => n === 0) }),
  fc.record({ kind: fc.constant('together' as const), steps: fc.array(constant, { minLength: 2, maxLength: 40 }) }),
  fc.record({ kind: fc.constant('nested create' as const), isValid: fc.boolean() }),
  fc.record({
    kind: fc.constant('transaction' as const),
    steps: fc.array(fc.oneof({ weight: 5, arbitrary: any }, { weight: 1, arbitrary: model }), { maxLength: 5 }),
    isPipelined: fc.boolean(),
    end: fc.constantFrom<End>('commits', 'commits', 'commits', 'throws', 'is aborted', 'late', 'hangs'),
  }),
);
const scripts = fc.array(fc.array(action, { minLength: 1, maxLength: 6 }), { minLength: CALLERS, maxLength: CALLERS });

/**
 * On PostgreSQL, a statement that is sent before the same statement has failed to be prepared fails with another code than
 * the first: its name is unknown.
 */
const UNKNOWN_NAME = '26000';
const ABORTED = '25P02';
/** Statements that cannot be prepared. */
const INVALID = /selec |missing/;

/** What a caller sees of a statement or transaction: its result, the SQLSTATE of its error, or the error itself. */
async function outcomeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    const { code, name, message } = error as { code?: string; name: string; message: string };
    return { code: code === UNKNOWN_NAME ? ABORTED : (code ?? name), message: code ? undefined : message };
  }
}

const table = (index: number) => `own_${index}`;

class Caller {
  constructor(
    private readonly database: Database,
    private readonly index: number,
  ) {}

  private readonly sessionFor = (ms = LIMIT_MS) =>
    this.database.sessionFor({ callerId: `caller ${this.index}`, deadline: new Deadline(ms) });

  async run(actions: readonly Action[]): Promise<unknown[]> {
    const outcomes: unknown[] = [];
    for (const each of actions) outcomes.push(await this.act(each));
    return outcomes;
  }

  private act(given: Action): Promise<unknown> {
    const session = this.sessionFor();
    switch (given.kind) {
      case 'single':
        if (given.isAborted) session.requester.deadline.end();
        return outcomeOf(() => this.send(session, given.step));
      case 'together':
        return Promise.all(given.steps.map((step) => outcomeOf(() => this.send(session, step))));
      case 'nested create':
        return outcomeOf(() => this.createNested(given.isValid));
      case 'transaction':
        return this.transact(given);
    }
  }

  /** Prisma makes two statements of this, in a separate transaction. */
  private createNested(isValid: boolean) {
    const pets = { create: [{ name: `of ${this.index}` }, { name: isValid ? 'Rex' : '' }] };
    const data = { name: `caller ${this.index}`, pets };
    return this.database.prisma.category.create({
      data,
      select: { name: true, pets: { select: { name: true }, orderBy: { name: 'asc' } } },
    });
  }

  private async transact({ steps, isPipelined, end }: Action & { kind: 'transaction' }): Promise<unknown> {
    const session = this.sessionFor(end === 'late' ? 60 : end === 'hangs' ? 40 : LIMIT_MS);
    const seen: unknown[] = [];
    const outcome = await outcomeOf(() =>
      session.transaction(async (transaction) => {
        seen.length = 0;
        if (end === 'hangs') await this.hang(transaction);
        const sent: Promise<unknown>[] = [];
        for (const step of steps) {
          const each = outcomeOf(() => this.send(transaction, step));
          sent.push(each);
          if (!isPipelined) await each;
        }
        seen.push(...(await Promise.all(sent)));
        if (end === 'late') await this.send(transaction, { ...SLEEP, isNamed: false });
        if (end === 'is aborted') session.requester.deadline.end();
        if (end === 'throws') throw new Error('no');
        return 'done';
      }),
    );
    // The deadline may pass before, during or after any statement. In each case the transaction changes nothing.
    if (end === 'late' || end === 'hangs') return outcome === 'done';
    return { seen, outcome };
  }

  private async hang(transaction: Transaction): Promise<void> {
    await outcomeOf(() => this.send(transaction, { ...SLEEP, text: 'insert into own values (99, 99)' }));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  private send(session: Session, { text, values, isNamed, how }: Step): Promise<unknown> {
    if (how === 'model') {
      const data = { name: values[0] === '' ? '' : `model ${this.index}` };
      return (session as Transaction).prisma.category.create({ data, select: { name: true } });
    }
    const each = statementOrUnnamed(text.replaceAll('own', table(this.index)), !isNamed || INVALID.test(text));
    return how === 'write' ? session.write(each, values) : session.query(each, values, how === 'short-read');
  }
}

const SLEEP: Step = { text: 'select pg_sleep(0.1)::text', values: [], isNamed: true, how: 'read' };

const indices = Array.from({ length: CALLERS }, (_, index) => index);
const statementOf = (text: string) => statementOrUnnamed(text, true);

/** Runs all scripts at the same time. @returns what each caller has seen, and all rows afterwards. */
async function runAll(database: Database, all: readonly (readonly Action[])[]): Promise<unknown> {
  await database.serviceSession().query(statementOf('delete from pets; delete from categories'), []);
  for (const index of indices) await database.serviceSession().query(statementOf(`delete from ${table(index)}`), []);
  const seen = await Promise.all(all.map((actions, index) => new Caller(database, index).run(actions)));
  const rows: unknown[] = [];
  for (const index of indices)
    rows.push(await database.serviceSession().query(statementOf(`select * from ${table(index)} order by id`), []));
  rows.push(await database.serviceSession().query(statementOf('select name from categories order by name'), []));
  rows.push(await database.serviceSession().query(statementOf('select name from pets order by name'), []));
  return { seen, rows };
}

/** Both databases, for one test at a time. */
interface Databases {
  readonly embedded: Database;
  readonly postgres: Database;
  readonly drop: () => Promise<void>;
}

async function openDatabases(): Promise<Databases> {
  const { database: postgres, drop } = await createDatabase();
  const embedded = await connectTo(await startPrepared(), 'embedded', { queue: 1000, requestTimeoutMs: LIMIT_MS });
  for (const database of [embedded, postgres])
    for (const index of indices)
      await database
        .serviceSession()
        .query(
          statementOf(
            `create table ${table(index)} (id int primary key, other int unique deferrable initially deferred)`,
          ),
          [],
        );
  return { embedded, postgres, drop };
}

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;
onPostgres('random statements and transactions of several callers have the same results as on PostgreSQL', () => {
  const idle: Databases[] = [];
  afterAll(async () => {
    for (const { embedded, postgres, drop } of idle) {
      for (const index of indices) await postgres.serviceSession().query(statementOf(`drop table ${table(index)}`), []);
      await Promise.all([drop(), embedded.close()]);
    }
  });

  // The tests run concurrently, since statements sleep.
  test.concurrent.each(Array.from({ length: SEEDS }, (_, seed) => seed))('seed %i', async (seed) => {
    const databases = idle.pop() ?? (await openDatabases());
    const { embedded, postgres } = databases;
    const property = fc.asyncProperty(scripts, async (all) => {
      const [here, there] = await Promise.all([runAll(embedded, all), runAll(postgres, all)]);
      expect(here).toEqual(there);
    });
    await fc.assert(property, { seed, numRuns: RUNS, endOnFailure: true }).finally(() => idle.push(databases));
  });
});
