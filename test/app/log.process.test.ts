import { spawnSync } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { command } from '../helper/command';
import { freePort } from '../helper/free-port';
import { ADMIN_KEY } from '../helper/gateway';
import { makeDirectory } from '../helper/installation';
import { ask } from '../helper/load';
import { copyData } from '../helper/prepared';
import { GatewayProcess, logOf, MAIN, Program, quick } from '../helper/process';
import { createProduction, onServers } from '../helper/production';
import { HEADERS } from '../helper/traffic';
import { until } from '../helper/until';

const directory = makeDirectory();
const DATA_DIR = join(directory, 'data');
const FIFO = join(directory, 'log');
copyData(DATA_DIR);
spawnSync('mkfifo', [FIFO]);
afterAll(() => rmSync(directory, { recursive: true }));

const NO_SPACE =
  'petstore-gateway: the log cannot be written: ENOSPC: no space left on device, write. The gateway goes on without it; petstore_log_lines_lost_total counts.\n';
const NO_READER = NO_SPACE.replace('ENOSPC: no space left on device', 'EPIPE: broken pipe');
const SLOW_READER = NO_SPACE.replace('ENOSPC: no space left on device, write', 'it is not read fast enough');
const LONG = { path: `/${'x'.repeat(8000)}`, headers: HEADERS };
/** Requests whose log lines are longer than the gateway keeps for a slow reader, together with a full pipe. */
const MANY = 700;

let gateway: GatewayProcess;
let url: string;
afterEach(() => gateway.stopAll('SIGKILL'));

/** The command line that starts a program with other output. */
const redirected = (redirection: string, program = MAIN) =>
  ['/bin/sh', '-c', `${redirection}; exec "$@"`, 'sh', ...program] as const;

/** Starts the gateway with other output, and waits until it serves. */
async function start(redirection: string, environment: Record<string, string> = {}): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const settings = { PATH: process.env.PATH ?? '', DATA_DIR, ADMIN_API_KEY: ADMIN_KEY, PORT: String(port) };
  gateway = new GatewayProcess({ ...settings, ...environment }, redirected(redirection));
  await until(async () => (await ask(url, { path: '/livez' })).status === 200, 60);
}

async function lostLines(at = url): Promise<number> {
  const { body = '' } = await ask(at, { path: '/metrics', headers: { ...HEADERS, connection: 'close' } });
  return Number(/^petstore_log_lines_lost_total (\d+)$/m.exec(body)?.[1]);
}

async function expectService(count = 10): Promise<void> {
  for (let sent = 0; sent < count; sent++) expect((await ask(url, LONG)).status).toBe(404);
}

async function expectStop(): Promise<string> {
  const began = performance.now();
  const { code, signal, stderr } = await gateway.stop();
  expect([code, signal]).toEqual([0, null]);
  expect(performance.now() - began).toBeLessThan(8000);
  return stderr;
}

test.each([
  ['has no space', 'exec > /dev/full', NO_SPACE],
  ['and standard error have no space', 'exec > /dev/full 2>&1', ''],
  ['lost its reader before the start', `exec 3<> ${FIFO} > ${FIFO} 3<&-`, NO_READER],
  ['and standard error lost their reader before the start', `exec 3<> ${FIFO} > ${FIFO} 2>&1 3<&-`, ''],
  [
    'is open only for reading',
    'exec 1< /dev/zero',
    NO_SPACE.replace('ENOSPC: no space left on device', 'EBADF: bad file descriptor'),
  ],
])(
  'if standard output %s, the gateway serves, counts lost lines, reports it once, and stops on SIGTERM',
  async (_what, redirection, stderr) => {
    await start(redirection);
    await expectService();
    await until(async () => (await lostLines()) > 10);
    expect(await expectStop()).toBe(stderr);
  },
);

test.each([
  ['closed', 'exec >&-'],
  ['closed, as standard error is', 'exec >&- 2>&-'],
])('if standard output is %s, the gateway serves and stops on SIGTERM', async (_what, redirection) => {
  await start(redirection);
  await expectService();
  expect(await lostLines()).toBe(0);
  expect(await expectStop()).toBe('');
});

test.each([
  ['standard output is not read', `exec 3<> ${FIFO} > ${FIFO}`, SLOW_READER],
  ['standard output is a full pipe', `exec 3<> ${FIFO} > ${FIFO}; head -c 65536 /dev/zero >&3`, SLOW_READER],
  [
    'standard output and standard error are one full pipe',
    `exec 3<> ${FIFO}; head -c 65536 /dev/zero >&3; exec >&3 2>&3`,
    '',
  ],
])(
  'if %s, the gateway serves, counts lost lines, reports it once, and stops on SIGTERM',
  async (_what, redirection, stderr) => {
    await start(redirection);
    await expectService(MANY);
    await until(async () => (await lostLines()) > 0);
    expect(await expectStop()).toBe(stderr);
  },
);

test('a reader that comes back gets the waiting lines and later lines, all of them whole', async () => {
  await start(`exec 3<> ${FIFO} > ${FIFO}`);
  await expectService(MANY);
  await until(async () => (await lostLines()) > 0);
  const log = text(createReadStream(FIFO));
  await until(() => gateway.stderr.includes('the log is written again.'));
  await ask(url, { path: '/pets', headers: { ...HEADERS, 'x-request-id': 'afterwards' } });
  const lost = await lostLines();
  const stderr = await expectStop();
  expect(stderr).toBe(
    `${SLOW_READER}petstore-gateway: the log is written again. ${lost} lines have been lost since the start.\n`,
  );
  const lines = logOf(await log);
  expect(lines).toContainEqual(expect.objectContaining({ requestId: 'afterwards', status: 200 }));
  expect(lines.filter(({ path }) => path === LONG.path)).toHaveLength(MANY - lost);
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
});

test('if the reader leaves while the gateway runs, it serves, counts lost lines, and stops on SIGTERM', async () => {
  gateway = await GatewayProcess.start({ DATA_DIR, ADMIN_API_KEY: ADMIN_KEY });
  url = gateway.url;
  gateway.closeOutput();
  await expectService();
  await until(async () => (await lostLines()) > 0);
  expect(await expectStop()).toBe(NO_READER);
});

test('if the log cannot be written at the first start, the admin key is printed on standard error', async () => {
  const other = join(directory, 'other');
  copyData(other);
  await start('exec > /dev/full', { ADMIN_API_KEY: '', DATA_DIR: other });
  await until(() => /the new admin key, shown only once, is ps_\w{12}_\w{32}\n/.test(gateway.stderr));
});

test('if standard error has no space, a failed start exits with 1', async () => {
  gateway = new GatewayProcess({ PORT: 'http' }, redirected('exec 2> /dev/full'));
  expect(await gateway.ended).toMatchObject({ code: 1, signal: null });
});

onServers('with two workers,', () => {
  test.each([
    ['has no space', 'exec > /dev/full', 10, NO_SPACE],
    ['is not read', `exec 3<> ${FIFO} > ${FIFO}`, 3 * MANY, SLOW_READER],
    ['lost its reader before the start', `exec 3<> ${FIFO} > ${FIFO} 3<&-`, 10, NO_READER],
  ])(
    'if standard output %s, all processes serve, report it once, and stop on SIGTERM',
    async (_what, redirection, count, line) => {
      const { environment, drop } = await createProduction();
      const port = await freePort();
      await start(redirection, { ...environment, LOG_LEVEL: 'info', WEB_CONCURRENCY: '2', METRICS_PORT: String(port) });
      await until(() => gateway.workers.length === 2);
      await expectService(count);
      await until(async () => (await lostLines(`http://127.0.0.1:${port}`)) > 0);
      const stderr = await expectStop();
      expect(stderr.replaceAll(line, '')).toBe('');
      expect(stderr.split('\n').length - 1).toBeLessThanOrEqual(3);
      await drop();
    },
  );
});

describe('a command', () => {
  const run = async (name: string, args: string[], redirection: string) => {
    const line = redirected(redirection, [...quick(command(name)), ...args]);
    const { code, stderr } = await new Program(line, { DATA_DIR }).ended;
    return { code, stderr };
  };
  const noReader = `exec 3<> ${FIFO} > ${FIFO} 3<&-`;

  test.each([
    ['app/seed', ['--help']],
    ['app/keys', ['--help']],
    ['app/dump', []],
  ])('%s succeeds if nobody reads its result, and fails with one line if the disk is full', async (name, args) => {
    expect(await run(name, args, noReader)).toEqual({ code: 0, stderr: '' });
    expect(await run(name, args, 'exec > /dev/full')).toEqual({
      code: 1,
      stderr: `${name.slice(4)}: the result could not be written: ENOSPC: no space left on device, write\n`,
    });
    expect(await run(name, args, 'exec > /dev/full 2>&1')).toEqual({ code: 1, stderr: '' });
  });
});
