import type { ChangeListener } from '../../src/database/changes';
import type { Database } from '../../src/database/database';
import { Deadline, Ended } from '../../src/database/deadline';
import { statement } from '../../src/database/statement';
import { createDatabase, fillShop } from '../helper/database';

let home: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
beforeAll(async () => {
  home = await createDatabase();
  database = home.database;
});
beforeEach(() => fillShop(database));
afterAll(() => home.drop());

const RENAME = statement(`update categories set name = 'Changed' where id = $1`);
const changed = async () =>
  (await database.query(statement(`select from categories where name = 'Changed'`), [])).length;
const session = (ms: number, caller = 'a') => database.sessionFor({ caller, deadline: new Deadline(ms) });
/** A transaction that runs until it is told to go on. */
function open(ms: number) {
  let goOn: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let began: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    began = resolve;
  });
  const done = session(ms).transaction(async (tx) => {
    await tx.write(RENAME, [1n]);
    began();
    await told;
    await tx.write(RENAME, [2n]);
  });
  return { running, done, goOn };
}

test('a transaction whose deadline ends between two statements starts no other, and is rolled back', async () => {
  const { running, done, goOn } = open(2_000);
  await Promise.race([running, done]);
  setTimeout(goOn, 2_100);
  await expect(done).rejects.toBeInstanceOf(Ended);
  expect(await changed()).toBe(0);
});

test('one that ends in time is committed', async () => {
  const { running, done, goOn } = open(10_000);
  await running;
  goOn();
  await done;
  expect(await changed()).toBe(2);
});

test('nothing starts after the end: reads, writes, transactions', async () => {
  const ended = session(10_000);
  ended.work.deadline.end();
  const run = [
    () => ended.query(statement('select 1'), []),
    () => ended.query(statement('select 1'), [], true),
    () => ended.write(RENAME, [1n]),
    () => ended.transaction(async (tx) => tx.write(RENAME, [1n])),
  ];
  for (const each of run) await expect((async () => each())()).rejects.toBeInstanceOf(Ended);
  expect(await changed()).toBe(0);
});

test('each event of a subscription has a time of its own', async () => {
  const ended = session(10_000);
  ended.work.deadline.end();
  expect(await ended.renewed().query(statement('select 1 as one'), [])).toEqual([{ one: 1 }]);
});

test('a change that was committed is announced, whether or not anybody still waits for it', async () => {
  const kinds: string[] = [];
  const listener: ChangeListener = ({ kind }) => kinds.push(kind);
  database.listeners.add(listener);
  const left = session(10_000);
  const { deadline } = left.work;
  const done = left.transaction(async (tx) => {
    await tx.write(RENAME, [1n]);
    tx.changed({ topic: 'pet', kind: 'UPDATED', id: 1n });
    // By then the commit has been sent, or nothing is changed.
    setTimeout(() => deadline.end());
  });
  await done.catch(() => undefined);
  database.listeners.delete(listener);
  expect(kinds).toHaveLength(await changed());
});
