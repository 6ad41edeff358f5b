import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import pino from 'pino';
import { Crew } from '../../src/processes/crew';
import { until } from '../helper/until';

afterEach(() => jest.restoreAllMocks());

/** A worker that reports at once that it accepts connections. */
function servingWorker(pid: number): Worker {
  const worker = Object.assign(new EventEmitter(), {
    process: { pid, kill: () => true },
    isConnected: () => true,
    send: () => true,
  });
  const serving = { t: 'q', m: 'serving', a: [{}] };
  setImmediate(() => worker.emit('message', serving));
  return worker as unknown as Worker;
}

test('starting a worker is retried until the machine has memory for it', async () => {
  const workers = [servingWorker(1), servingWorker(2)];
  const starts: (Worker | Error)[] = [workers[0] as Worker, new Error('spawn ENOMEM'), workers[1] as Worker];
  const fork = jest.spyOn(cluster, 'fork').mockImplementation(() => {
    const next = starts.shift();
    if (next instanceof Error) throw next;
    return next as Worker;
  });
  const lines: unknown[] = [];
  const crew = new Crew(1, pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) }));
  await crew.start(() => undefined);
  workers[0]?.emit('exit', null, 'SIGKILL');
  await until(async () => fork.mock.calls.length === 3);
  expect(lines).toMatchObject([
    { worker: 1, cause: 'a worker exited with SIGKILL', againInMs: 100 },
    { cause: 'spawn ENOMEM', againInMs: 200 },
  ]);
  expect([...crew.workers].map(({ pid }) => pid)).toEqual([2]);
  crew.isStopping = true;
});
