import cluster from 'node:cluster';
import { join } from 'node:path';
import pino from 'pino';
import { WorkerPool } from '../../src/processes/worker-pool';
import { PROJECT } from '../helper/command';
import { until } from '../helper/until';

const lines: unknown[] = [];
const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
const pool = new WorkerPool(1, logger);
const pids = () => [...pool.workers].map(({ pid }) => pid);

afterAll(() => {
  delete process.env.TOO_LONG;
  pool.isStopping = true;
  pool.kill();
});

test('starting a worker is retried until the machine has memory for it', async () => {
  cluster.setupPrimary({ exec: join(__dirname, 'serving-worker.cjs'), cwd: PROJECT });
  await pool.start(() => undefined);
  const [first = Number.NaN] = pids();
  // An environment with no room in the new process makes Node throw, as a lack of memory does.
  process.env.TOO_LONG = 'x'.repeat(1_000_000);
  process.kill(first, 'SIGKILL');
  await until(async () => lines.length === 3);
  expect(pids()).toEqual([]);
  delete process.env.TOO_LONG;
  await until(async () => pids().length === 1);
  const [next = Number.NaN] = pids();
  expect(next).not.toBe(first);
  expect(await [...pool.workers][0]?.report).toEqual({});
  expect(lines.slice(0, 3)).toMatchObject([
    { worker: first, cause: 'a worker exited with SIGKILL', againInMs: 100 },
    { cause: 'spawn E2BIG', againInMs: 200 },
    { cause: 'spawn E2BIG', againInMs: 400 },
  ]);
});
