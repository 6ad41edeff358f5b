import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { BatchedWrites } from '../../src/database/batched-writes';
import type { Requester } from '../../src/database/database';
import { Deadline, Ended, OutcomeUnknown } from '../../src/database/deadline';
import type { BoundStatement } from '../../src/database/engine';

const SINGLE = { name: 'single', text: 'single' };
const BATCH = { name: 'batch', text: 'batch' };
const failure = (code: string) => Object.assign(new Error(code), { code });

/** A statement that the engine has been asked to run. */
interface Sent {
  /** `single` or `batch`. */
  readonly name: string;
  /** The first value of each row. */
  readonly rows: readonly unknown[];
  readonly requester: Requester;
  /** Writes the rows. @param leftOut the rows that a batch leaves out. */
  succeed(leftOut?: readonly unknown[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Batched writes on an engine whose statements end when the test says so. The first letter of a row is its caller. */
function scene(places = 1000) {
  const sent: Sent[] = [];
  const run = ({ ...requester }: Requester, { statement, values }: BoundStatement<never>) =>
    new Promise<never[]>((resolve, reject) => {
      const { name } = statement;
      const rows = name === 'batch' ? (values[0] as unknown[]) : [values[0]];
      const written = (leftOut: readonly unknown[]) =>
        rows.flatMap((row, i) => (leftOut.includes(row) ? [] : [{ ordinal: BigInt(i + 1), id: `id of ${row}` }]));
      const end = async (settle: () => void) => {
        settle();
        await nextTurn();
      };
      const succeed = (leftOut: readonly unknown[] = []) => end(() => resolve(written(leftOut) as never[]));
      sent.push({ name, rows, requester, succeed, fail: (error) => end(() => reject(error)) });
    });
  const writes = new BatchedWrites({ run }, SINGLE, BATCH, places, 10_000);
  const published: unknown[] = [];
  /** How each row ended. */
  const ended = new Map<string, unknown>();
  const write = (row: string, deadline = new Deadline(1_000_000_000)) => {
    const callerId = row.charAt(0);
    const note = (outcome: unknown) => void ended.set(row, outcome);
    writes
      .write<{ id: string }>({ callerId, deadline }, [row], ([found]) => published.push(found?.id))
      .then(([found]) => note(found?.id), note);
  };
  const writeAll = async (...rows: string[]) => {
    for (const row of rows) write(row);
    await nextTurn();
  };
  const named = () => sent.map(({ name, rows }) => `${name} ${rows.join(' ')}`);
  return { writes, sent, named, write, writeAll, ended, published };
}

test('a row that arrives alone is written alone, for its caller', async () => {
  const { sent, named, writeAll, ended, published } = scene();
  await writeAll('a1');
  expect(named()).toEqual(['single a1']);
  expect(sent[0]?.requester.callerId).toBe('a');
  await sent[0]?.succeed();
  expect([ended.get('a1'), published]).toEqual(['id of a1', ['id of a1']]);
});

test('rows of one turn of the event loop are one statement, and each gets its own result', async () => {
  const { sent, named, writeAll, ended, published } = scene();
  await writeAll('a1', 'b1', 'a2');
  expect(named()).toEqual(['batch a1 b1 a2']);
  await sent[0]?.succeed();
  expect([...ended]).toEqual(['a1', 'b1', 'a2'].map((row) => [row, `id of ${row}`]));
  expect(published).toEqual(['id of a1', 'id of b1', 'id of a2']);
});

test('at most two statements are in flight, and the next statement writes the rows that arrive in the meantime', async () => {
  const { writes, sent, named, writeAll } = scene();
  await writeAll('a1');
  await writeAll('a2');
  await writeAll('a3');
  await writeAll('a4', 'a5');
  expect([named(), writes.waiting]).toEqual([['single a1', 'single a2'], 3]);
  await sent[1]?.succeed();
  expect([named().at(-1), writes.waiting]).toEqual(['batch a3 a4 a5', 0]);
});

/** Names of rows of one caller. */
const rowsOf = (caller: string, count: number) => Array.from({ length: count }, (_, i) => `${caller}${i}`);

test('a statement has at most 64 rows, and callers take turns', async () => {
  const { sent, writeAll } = scene();
  await writeAll(...[...'abcdefgh'].flatMap((caller) => rowsOf(caller, 16)), 'i0', 'a16');
  expect(sent.map(({ rows }) => rows.length)).toEqual([64, 64]);
  expect(sent[0]?.rows.slice(0, 10).join(' ')).toBe('a0 b0 c0 d0 e0 f0 g0 h0 i0 a1');
});

test('a caller has at most 16 rows in flight, and does not keep others waiting', async () => {
  const { writes, sent, named, writeAll } = scene();
  await writeAll(...rowsOf('a', 200));
  expect([sent.map(({ rows }) => rows), writes.waiting]).toEqual([[rowsOf('a', 16)], 184]);
  await writeAll('b0', 'b1');
  expect(named()[1]).toBe('batch b0 b1');
  await sent[1]?.succeed();
  expect(sent).toHaveLength(2);
  await sent[0]?.succeed();
  expect([sent[2]?.rows[0], sent[2]?.rows.length, writes.waiting]).toEqual(['a16', 16, 168]);
});

test('the write of a single row does not keep others waiting for longer than 20 ms', async () => {
  const { named, writeAll } = scene();
  await writeAll('a1');
  await writeAll('b1');
  await writeAll('c1', 'c2');
  await sleep(40);
  expect(named()).toEqual(['single a1', 'single b1', 'batch c1 c2']);
});

test('a row that a batch leaves out is written alone, and gets its own error', async () => {
  const { sent, named, writeAll, ended } = scene();
  await writeAll('a1', 'b1', 'c1');
  await sent[0]?.succeed(['b1']);
  expect([named().at(-1), sent[1]?.requester.callerId]).toEqual(['single b1', 'b']);
  expect([...ended.keys()]).toEqual(['a1', 'c1']);
  await sent[1]?.fail(failure('23503'));
  expect(ended.get('b1')).toMatchObject({ code: '23503' });
});

test.each(['08006', '57014', '25006', '53100', '42501'])(
  'after the failure %s of a batch, its rows get this error, and none is written alone',
  async (code) => {
    const { sent, writeAll, ended } = scene();
    await writeAll('a1', 'b1');
    await sent[0]?.fail(failure(code));
    expect([sent.length, ended.get('a1'), ended.get('b1')]).toMatchObject([1, { code }, { code }]);
  },
);

test('if the outcome of a batch is unknown, so is the outcome of its rows, and none is written again', async () => {
  const { sent, writeAll, ended } = scene();
  await writeAll('a1', 'b1');
  await sent[0]?.fail(new OutcomeUnknown('x'));
  expect([sent.length, ended.get('a1'), ended.get('b1')]).toEqual([
    1,
    expect.any(OutcomeUnknown),
    expect.any(OutcomeUnknown),
  ]);
});

test.each(['23514', '22P05'])('after the failure %s of a batch, each row is written alone', async (code) => {
  const { sent, named, writeAll, ended } = scene();
  await writeAll('a1', 'b1');
  await sent[0]?.fail(failure(code));
  expect(named().slice(1)).toEqual(['single a1', 'single b1']);
  await sent[1]?.succeed();
  await sent[2]?.fail(failure(code));
  expect([ended.get('a1'), ended.get('b1')]).toMatchObject(['id of a1', { code }]);
});

describe('a row whose deadline ends', () => {
  test('while it waits, is never written', async () => {
    const { writes, sent, named, write, writeAll, ended } = scene();
    await writeAll('a1');
    await writeAll('a2');
    const deadline = new Deadline(1_000_000_000);
    write('b1', deadline);
    deadline.end();
    await nextTurn();
    expect([ended.get('b1'), writes.waiting]).toEqual([expect.any(Ended), 0]);
    await sent[0]?.succeed();
    expect(named()).toEqual(['single a1', 'single a2']);
  });

  test('in a batch, has an unknown outcome, unless the batch ends soon. Its change is published', async () => {
    const { sent, write, ended, published } = scene();
    const deadlines = [new Deadline(1_000_000_000), new Deadline(1_000_000_000)];
    for (const [i, deadline] of deadlines.entries()) write(`a${i}`, deadline);
    write('b1');
    await nextTurn();
    deadlines[0]?.end();
    await sleep(520);
    expect([...ended]).toEqual([['a0', expect.any(OutcomeUnknown)]]);
    expect(sent[0]?.requester.deadline.reason).toBeUndefined();
    deadlines[1]?.end();
    await sent[0]?.succeed();
    expect(ended.get('a1')).toBe('id of a1');
    expect([...published].sort()).toEqual(['id of a0', 'id of a1', 'id of b1']);
  });

  test('ends the batch if no request waits for its other rows either', async () => {
    const { sent, write, ended } = scene();
    const deadline = new Deadline(1_000_000_000);
    write('a1', deadline);
    write('a2', deadline);
    await nextTurn();
    deadline.end();
    expect(sent[0]?.requester.deadline.reason).toBeInstanceOf(Ended);
    await sent[0]?.fail(new Ended('cancelled'));
    expect([...ended.values()]).toEqual([expect.any(Ended), expect.any(Ended)]);
  });
});

test('rows beyond the places of the queue are rejected, and a caller has three quarters of the places', async () => {
  const { writeAll, ended } = scene(8);
  await writeAll('a1');
  await writeAll('a2');
  await writeAll('a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'b1', 'b2', 'b3');
  const rejected = [...ended].map(([row, error]) => [row, (error as { code: string }).code]);
  expect(rejected).toEqual(['a9', 'b3'].map((row) => [row, '53300']));
});
