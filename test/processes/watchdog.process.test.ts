import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Installation } from '../helper/installation';

/** Loaded into the process: these signals make its event loop stand still, in JavaScript and in the operating system. */
const STUCK = `
  process.on('SIGUSR2', () => { for (;;); });
  process.on('SIGHUP', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
`;

let installation: Installation;
let preload: string;
beforeAll(() => {
  installation = new Installation({ LOG_LEVEL: 'silent', WATCHDOG_MS: '1000' });
  preload = mkdtempSync(join(tmpdir(), 'petstore-stuck-'));
  writeFileSync(join(preload, 'stuck.cjs'), STUCK);
});
afterAll(async () => {
  await installation.remove();
  rmSync(preload, { recursive: true });
});

test.each(['SIGUSR2', 'SIGHUP'] as const)(
  'a process whose event loop stands still ends with its own exit code and one line (%s)',
  async (signal) => {
    const gateway = await installation.start({ NODE_OPTIONS: `--require ${join(preload, 'stuck.cjs')}` });
    expect(await gateway.stop(signal)).toMatchObject({
      code: 70,
      signal: null,
      stderr: 'petstore-gateway: the event loop has not turned for 1 s; ending this process, to be started again.\n',
    });
    const again = await installation.start();
    expect((await fetch(`${again.url}/readyz`)).status).toBe(200);
  },
);

test('one that was suspended goes on', async () => {
  const gateway = await installation.start();
  process.kill(gateway.pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  process.kill(gateway.pid, 'SIGCONT');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
  expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
});
