import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_KEY } from '../../helper/gateway';
import { Installation } from '../../helper/installation';
import { ask } from '../../helper/load';
import { type Ending, GatewayProcess, MAIN } from '../../helper/process';
import { withOwn } from '../../helper/testbed';
import { HEADERS } from '../../helper/traffic';
import { until } from '../../helper/until';

/** How long the start waits for a renewal of a lock whose owner it cannot see, in seconds. */
const BOUND_SECONDS = 20;
const ROUNDS = 2;
const ENVIRONMENT = { ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'warn', PORT: '0' };

/** Runs a command as in a container: with separate process ids. Needs root, or a kernel that lets users create namespaces. */
const USER = process.getuid?.() === 0 ? [] : ['--map-root-user'];
const CONTAINER = ['unshare', ...USER, '--pid', '--fork', '--kill-child', '--mount-proc'] as const;
const isPermitted = spawnSync(CONTAINER[0], [...CONTAINER.slice(1), 'true']).status === 0;
// In CI, the tests fail instead of being skipped.
const inContainers = isPermitted || process.env.CI === 'true' ? describe : describe.skip;

/** Gives the container a separate network and host name. The network has no addresses, so tests cannot send requests. */
const ISOLATED = [
  ...CONTAINER,
  '--net',
  '--uts',
  ...['sh', '-c', 'echo isolated > /proc/sys/kernel/hostname; export HOST=0.0.0.0; exec "$@"', 'sh'],
] as const;

const PLACES: Record<string, [string, ...string[]]> = {
  host: [...MAIN],
  container: [...CONTAINER, ...MAIN],
  'container with its own network and host name': [...ISOLATED, ...MAIN],
};
const [HOST, CONTAINED, ALONE] = Object.keys(PLACES) as [string, string, string];

/** A data directory, and the gateways of one test on it. The tests mostly wait, so they run concurrently. */
class Testbed {
  readonly installation = new Installation(ENVIRONMENT);
  private readonly others: GatewayProcess[] = [];

  /** Starts another gateway on the same data directory. */
  startAnother(line = PLACES[HOST]): GatewayProcess {
    const another = new GatewayProcess({ DATA_DIR: this.installation.data, ...ENVIRONMENT }, line);
    this.others.push(another);
    return another;
  }

  /**
   * Deletes the socket of the lock. This process then knows as little of its owner as on another host, or on a disk without
   * sockets.
   */
  hideOwner(): void {
    const { data } = this.installation;
    const lock = readdirSync(data).find((name) => name.startsWith('lock.'));
    rmSync(join(data, String(lock), 'socket'));
  }

  /** Paths, sizes, times of the last change and contents of all files of the database. */
  filesOfDatabase(): unknown {
    const root = join(this.installation.data, 'postgres');
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const file = join(root, name);
        const { size, mtimeMs, ctimeMs } = statSync(file);
        return [name, size, mtimeMs, ctimeMs, statSync(file).isFile() && readFileSync(file, 'base64')];
      });
  }

  async close(): Promise<void> {
    await Promise.all(this.others.map((each) => each.stop('SIGKILL')));
    await this.installation.remove();
  }
}

const inTestbed = withOwn(() => new Testbed());

const rejection = {
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(/^petstore-gateway: \S+ is in use by process \d+(?: on \S+)?\. Stop it, or [^\n]+\n$/),
};

function createCategory(url: string, name: string) {
  return ask(url, { method: 'POST', path: '/categories', headers: HEADERS, body: JSON.stringify({ name }) });
}

/** Whether the gateway has reported its URL. Without a network, the URL has the host name `localhost`. */
function serves({ stdout }: GatewayProcess): boolean {
  return /serves at http:\/\/\S+:\d+/.test(stdout);
}

async function categoryNames(url: string): Promise<string> {
  return (await ask(url, { path: '/categories', headers: { 'x-api-key': ADMIN_KEY } })).body ?? '';
}

inContainers('two containers', () => {
  test.concurrent.each([
    [CONTAINED, CONTAINED],
    [CONTAINED, HOST],
    [HOST, CONTAINED],
    [ALONE, ALONE],
    [ALONE, HOST],
    [HOST, ALONE],
  ])(
    'never have one data directory open: a %s, then a %s',
    inTestbed(async (bed, first: string, second: string) => {
      const owner = bed.startAnother(PLACES[first]);
      await until(() => serves(owner), 60);
      expect(await bed.startAnother(PLACES[second]).ended).toMatchObject(rejection);

      // The process itself, not `unshare`, which is its parent.
      const pid = first === HOST ? owner.pid : (owner.workers[0] ?? 0);
      process.kill(pid, 'SIGSTOP');
      expect(await bed.startAnother(PLACES[second]).ended).toMatchObject(rejection);
      process.kill(pid, 'SIGCONT');
      if (first !== ALONE) expect(await createCategory(owner.url, 'Dogs')).toMatchObject({ status: 201 });

      process.kill(pid, 'SIGKILL');
      await owner.ended;
      const next = bed.startAnother(PLACES[second]);
      await until(() => serves(next), 60);
      expect(next.stderr).toBe('');
      if (first !== ALONE && second !== ALONE) expect(await categoryNames(next.url)).toContain('"Dogs"');
    }),
  );
});

test.concurrent(
  'exactly one of two gateways that start at the same instant serves, even after a crash',
  inTestbed(async (bed) => {
    for (let round = 0; round < ROUNDS; round++) {
      const both = [bed.startAnother(), bed.startAnother()];
      await until(() => both.some(({ url }) => url) && both.some(({ isEnded }) => isEnded), 60);
      const [served, rejected] = both.sort((a, b) => Number(a.isEnded) - Number(b.isEnded)) as [
        GatewayProcess,
        GatewayProcess,
      ];
      expect(await rejected.ended).toMatchObject(rejection);
      expect(await createCategory(served.url, `Round ${round}`)).toMatchObject({ status: 201 });
      await served.stop('SIGKILL');
    }
    const { url } = await bed.installation.start();
    const names = await categoryNames(url);
    for (let round = 0; round < ROUNDS; round++) expect(names).toContain(`"Round ${round}"`);
  }),
);

const WAITING = new RegExp(
  `^petstore-gateway: \\S+ was last used by (process \\d+)\\. This process cannot see whether \\1 still runs, so the start waits for up to ${BOUND_SECONDS} s\\.\\n`,
);

test.concurrent(
  'a gateway that another host sees is not replaced, however long another gateway waits',
  inTestbed(async (bed) => {
    await bed.installation.start();
    bed.hideOwner();
    const { code, stderr } = await bed.startAnother().ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(WAITING);
    expect(stderr).toMatch(/\npetstore-gateway: \S+ is in use by process \d+\. Stop it, or [^\n]+\n$/);
  }),
);

test.concurrent(
  'a gateway that another host replaces while it is paused exits before it writes anything',
  inTestbed(async (bed) => {
    const first = await bed.installation.start();
    expect(await createCategory(first.url, 'Before')).toMatchObject({ status: 201 });
    bed.hideOwner();
    process.kill(first.pid, 'SIGSTOP');
    const requests = Array.from({ length: 5 }, () => createCategory(first.url, 'Lost').catch(() => undefined));

    const from = Date.now();
    const second = bed.startAnother();
    await until(() => second.url !== '', 90);
    expect((Date.now() - from) / 1000).toBeGreaterThan(BOUND_SECONDS);
    expect(second.stderr).toMatch(WAITING);
    expect(await createCategory(second.url, 'After')).toMatchObject({ status: 201 });
    // Stopped, so that the files change only if the first gateway changes them.
    process.kill(second.pid, 'SIGSTOP');
    const files = bed.filesOfDatabase();
    process.kill(first.pid, 'SIGCONT');
    const ending: Ending = await first.ended;
    expect(bed.filesOfDatabase()).toEqual(files);
    expect(ending.code).toBe(75);
    expect(ending.stderr).toMatch(/^petstore-gateway: this process no longer holds the lock of [^\n]+\n$/);
    await Promise.all(requests);

    process.kill(second.pid, 'SIGCONT');
    const names = await categoryNames(second.url);
    expect(names).toContain('"Before"');
    expect(names).toContain('"After"');
    expect(names).not.toContain('"Lost"');
  }),
);

test.concurrent(
  'a gateway whose data directory is deleted exits instead of acknowledging writes',
  inTestbed(async (bed) => {
    const gateway = await bed.installation.start();
    rmSync(bed.installation.data, { recursive: true });
    const { status } = await createCategory(gateway.url, 'Lost').catch(() => ({ status: undefined }));
    expect(status).not.toBe(201);
    const { code, stderr } = await gateway.ended;
    expect(code).toBe(75);
    expect(stderr).toMatch(/^petstore-gateway: this process no longer holds the lock of [^\n]+\n$/);
  }),
);
