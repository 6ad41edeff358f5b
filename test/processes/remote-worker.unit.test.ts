import cluster from 'node:cluster';
import { RemoteWorker } from '../../src/processes/remote-worker';

test('a worker that cannot be spawned has ended, and says why', async () => {
  cluster.setupPrimary({ cwd: '/nowhere' });
  const worker = new RemoteWorker(async () => '');
  expect(await worker.ended).toEqual({
    code: null,
    signal: null,
    reason: expect.stringMatching(/^spawn .* ENOENT$/),
    lived: expect.any(Number),
  });
  expect(await worker.report).toBeUndefined();
  worker.kill();
});
