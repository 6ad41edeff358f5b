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
import { withOwn } from '../helper/testbed';
import { HEADERS } from '../helper/traffic';
import { until } from '../helper/until';

const NO_SPACE =
  'petstore-gateway: the log cannot be written: ENOSPC: no space left on device, write. The gateway continues without the log, and counts lost lines in petstore_log_lines_lost_total.\n';
const NO_READER = NO_SPACE.replace('ENOSPC: no space left on device', 'EPIPE: broken pipe');
const SLOW_READER = NO_SPACE.replace('ENOSPC: no space left on device, write', 'it is not read fast enough');
const LONG = { path: `/${'x'.repeat(8000)}`, headers: HEADERS };
/** Requests whose log lines are longer than the gateway keeps for a slow reader, together with a full pipe. */
const MANY = 700;

/** The command line that starts a program with other output. */
const redirected = (redirection: string, program = MAIN) =>
  ['/bin/sh', '-c', `${redirection}; exec "$@"`, 'sh', ...program] as const;

/** The directory, gateway and pipe of one test. The tests mostly start processes and wait, so they run concurrently. */
class Testbed {
  readonly directory = makeDirectory();
  readonly data = join(this.directory, 'data');
  readonly fifo = join(this.directory, 'log');
  gateway!: GatewayProcess;
  url = '';

  constructor() {
    copyData(this.data);
    spawnSync('mkfifo', [this.fifo]);
  }

  async close(): Promise<void> {
    await this.gateway?.stopAll('SIGKILL');
    rmSync(this.directory, { recursive: true });
  }

  /**
   * Starts the gateway with other output, and waits until it serves.
   * @param redirection shell code, in which FIFO stands for the path of the pipe.
   */
  async start(redirection: string, environment: Record<string, string> = {}): Promise<void> {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const settings = { ...this.environment, PATH: process.env.PATH ?? '', PORT: String(port) };
    this.gateway = new GatewayProcess({ ...settings, ...environment }, redirected(this.withPipe(redirection)));
    await until(async () => (await ask(this.url, { path: '/livez' })).status === 200, 60);
  }

  get environment() {
    return { DATA_DIR: this.data, ADMIN_API_KEY: ADMIN_KEY };
  }

  withPipe(redirection: string): string {
    return redirection.replaceAll('FIFO', this.fifo);
  }

  /** @returns the value of a metric; NaN if the gateway does not answer, or has no such metric. */
  async metric(name: string, at = this.url): Promise<number> {
    const { body = '' } = await ask(at, { path: '/metrics', headers: { ...HEADERS, connection: 'close' } });
    return Number(new RegExp(`^petstore_${name} (\\d+)$`, 'm').exec(body)?.[1]);
  }

  lostLines(at = this.url): Promise<number> {
    return this.metric('log_lines_lost_total', at);
  }

  async expectService(count = 10): Promise<void> {
    for (let sent = 0; sent < count; sent++) expect((await ask(this.url, LONG)).status).toBe(404);
  }

  async expectStop(): Promise<string> {
    const began = performance.now();
    const { code, signal, stderr } = await this.gateway.stop();
    expect([code, signal]).toEqual([0, null]);
    expect(performance.now() - began).toBeLessThan(8000);
    return stderr;
  }
}

const inTestbed = withOwn(() => new Testbed());

test.concurrent.each([
  ['has no space', 'exec > /dev/full', NO_SPACE],
  ['and standard error have no space', 'exec > /dev/full 2>&1', ''],
  ['lost its reader before the start', 'exec 3<> FIFO > FIFO 3<&-', NO_READER],
  ['and standard error lost their reader before the start', 'exec 3<> FIFO > FIFO 2>&1 3<&-', ''],
  [
    'is open only for reading',
    'exec 1< /dev/zero',
    NO_SPACE.replace('ENOSPC: no space left on device', 'EBADF: bad file descriptor'),
  ],
])(
  'if standard output %s, the gateway serves, counts lost lines, reports it once, and stops on SIGTERM',
  inTestbed(async (bed, _what: string, redirection: string, stderr: string) => {
    await bed.start(redirection);
    await bed.expectService();
    await until(async () => (await bed.lostLines()) > 10);
    expect(await bed.expectStop()).toBe(stderr);
  }),
);

test.concurrent.each([
  ['closed', 'exec >&-'],
  ['closed, as standard error is', 'exec >&- 2>&-'],
])(
  'if standard output is %s, the gateway serves and stops on SIGTERM',
  inTestbed(async (bed, _what: string, redirection: string) => {
    await bed.start(redirection);
    await bed.expectService();
    expect(await bed.lostLines()).toBe(0);
    expect(await bed.expectStop()).toBe('');
  }),
);

test.concurrent.each([
  ['standard output is not read', 'exec 3<> FIFO > FIFO', SLOW_READER],
  ['standard output is a full pipe', 'exec 3<> FIFO > FIFO; head -c 65536 /dev/zero >&3', SLOW_READER],
  [
    'standard output and standard error are one full pipe',
    'exec 3<> FIFO; head -c 65536 /dev/zero >&3; exec >&3 2>&3',
    '',
  ],
])(
  'if %s, the gateway serves, counts lost lines, reports it once, and stops on SIGTERM',
  inTestbed(async (bed, _what: string, redirection: string, stderr: string) => {
    await bed.start(redirection);
    await bed.expectService(MANY);
    await until(async () => (await bed.lostLines()) > 0);
    expect(await bed.expectStop()).toBe(stderr);
  }),
);

test.concurrent(
  'a reader that comes back gets the waiting lines and later lines, all of them whole',
  inTestbed(async (bed) => {
    await bed.start('exec 3<> FIFO > FIFO');
    await bed.expectService(MANY);
    await until(async () => (await bed.lostLines()) > 0);
    const log = text(createReadStream(bed.fifo));
    await until(() => bed.gateway.stderr.includes('the log is written again.'));
    await ask(bed.url, { path: '/pets', headers: { ...HEADERS, 'x-request-id': 'afterwards' } });
    const lost = await bed.lostLines();
    const stderr = await bed.expectStop();
    expect(stderr).toBe(
      `${SLOW_READER}petstore-gateway: the log is written again. ${lost} lines have been lost since the start.\n`,
    );
    const lines = logOf(await log);
    expect(lines).toContainEqual(expect.objectContaining({ requestId: 'afterwards', status: 200 }));
    expect(lines.filter(({ path }) => path === LONG.path)).toHaveLength(MANY - lost);
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  }),
);

test.concurrent(
  'if the reader leaves while the gateway runs, it serves, counts lost lines, and stops on SIGTERM',
  inTestbed(async (bed) => {
    bed.gateway = await GatewayProcess.start(bed.environment);
    bed.url = bed.gateway.url;
    bed.gateway.closeOutput();
    await bed.expectService();
    await until(async () => (await bed.lostLines()) > 0);
    expect(await bed.expectStop()).toBe(NO_READER);
  }),
);

test.concurrent(
  'if the log cannot be written at the first start, the admin key is printed on standard error',
  inTestbed(async (bed) => {
    await bed.start('exec > /dev/full', { ADMIN_API_KEY: '' });
    await until(() => /the new admin key, shown only once, is ps_\w{12}_\w{32}\n/.test(bed.gateway.stderr));
  }),
);

test.concurrent(
  'if standard error has no space, a failed start exits with 1',
  inTestbed(async (bed) => {
    bed.gateway = new GatewayProcess({ PORT: 'http' }, redirected('exec 2> /dev/full'));
    expect(await bed.gateway.ended).toMatchObject({ code: 1, signal: null });
  }),
);

onServers('with two workers,', () => {
  test.concurrent.each([
    ['has no space', 'exec > /dev/full', 10, NO_SPACE],
    ['is not read', 'exec 3<> FIFO > FIFO', 3 * MANY, SLOW_READER],
    ['lost its reader before the start', 'exec 3<> FIFO > FIFO 3<&-', 10, NO_READER],
  ])(
    'if standard output %s, all processes serve, report it once, and stop on SIGTERM',
    inTestbed(async (bed, _what: string, redirection: string, count: number, line: string) => {
      const { environment, drop } = await createProduction();
      const port = await freePort();
      const metricsAt = `http://127.0.0.1:${port}`;
      await bed.start(redirection, {
        ...environment,
        LOG_LEVEL: 'info',
        WEB_CONCURRENCY: '2',
        METRICS_PORT: String(port),
      });
      await until(async () => (await bed.metric('workers', metricsAt)) === 2);
      await bed.expectService(count);
      await until(async () => (await bed.lostLines(metricsAt)) > 0);
      const stderr = await bed.expectStop();
      expect(stderr.replaceAll(line, '')).toBe('');
      expect(stderr.split('\n').length - 1).toBeLessThanOrEqual(3);
      await drop();
    }),
  );
});

test.concurrent.each<[name: string, args: string[]]>([
  ['app/seed', ['--help']],
  ['app/keys', ['--help']],
  ['app/dump', []],
])(
  'the command %s succeeds if no process reads its result, and fails with one line if the disk is full',
  inTestbed(async (bed, name: string, args: string[]) => {
    const run = async (redirection: string) => {
      const line = redirected(bed.withPipe(redirection), [...quick(command(name)), ...args]);
      const { code, stderr } = await new Program(line, { DATA_DIR: bed.data }).ended;
      return { code, stderr };
    };
    expect(await run('exec 3<> FIFO > FIFO 3<&-')).toEqual({ code: 0, stderr: '' });
    expect(await run('exec > /dev/full')).toEqual({
      code: 1,
      stderr: `${name.slice(4)}: the result could not be written: ENOSPC: no space left on device, write\n`,
    });
    expect(await run('exec > /dev/full 2>&1')).toEqual({ code: 1, stderr: '' });
  }),
);
