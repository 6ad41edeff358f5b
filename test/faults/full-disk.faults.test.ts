import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { freePort } from '../helper/free-port';
import { ADMIN_KEY } from '../helper/gateway';
import { makeDirectory } from '../helper/installation';
import { ask, Load } from '../helper/load';
import { copyData } from '../helper/prepared';
import { GatewayProcess, logOf, MAIN, runTypeScript } from '../helper/process';
import { HEADERS, isServed, madeCategories, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const MB = 1024 * 1024;

/** A small file system in memory. Only root can mount it. */
class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), 'petstore-disk-'));
  readonly isMounted: boolean;
  private protectedPath: string | undefined;

  constructor(megabytes: number) {
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.path]);
    this.isMounted = status === 0;
  }

  /** Fills the disk until `left` megabytes are free. */
  fill(left: number): void {
    this.empty();
    const { bavail, bsize } = statfsSync(this.path);
    try {
      writeFileSync(join(this.path, 'filler'), Buffer.alloc(Math.floor(bavail * bsize - left * MB)));
    } catch (error) {
      // The gateway took the remaining space in the meantime, so the disk is already full.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  /** Removes the file that `fill` has written. */
  empty(): void {
    rmSync(join(this.path, 'filler'), { force: true });
  }

  remount(option: string): void {
    spawnSync('mount', ['-o', `remount,${option}`, this.path]);
  }

  /**
   * Makes a directory read-only for files that are opened from now on, like a file system after an error. A file system with
   * files that are open for writing cannot be remounted read-only.
   */
  protect(directory: string): void {
    spawnSync('mount', ['-o', 'bind,ro', directory, directory]);
    this.protectedPath = directory;
  }

  unprotect(): void {
    if (this.protectedPath) spawnSync('umount', ['-l', this.protectedPath]);
    this.protectedPath = undefined;
  }

  /** The number of its files. */
  get files(): number {
    const { files, ffree } = statfsSync(this.path);
    return files - ffree;
  }

  remove(): void {
    this.unprotect();
    spawnSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

const probe = new SmallDisk(1);
probe.remove();
const onSmallDisk = probe.isMounted ? describe : describe.skip;

onSmallDisk('on a full disk', () => {
  let disk: SmallDisk;
  let data: string;
  let gateway: GatewayProcess | undefined;
  beforeEach(() => {
    disk = new SmallDisk(256);
    data = join(disk.path, 'data');
    mkdirSync(data);
    copyData(data);
  });
  afterEach(async () => {
    await gateway?.stop('SIGKILL');
    gateway = undefined;
    disk.remove();
  });

  const environment = () => ({
    DATA_DIR: data,
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'error',
  });
  const start = async () => {
    gateway = await GatewayProcess.start(environment());
    return gateway;
  };
  const failure = (reason: string) =>
    `petstore-gateway: the files of the embedded database cannot be written: ${reason}. All acknowledged writes are kept. Make sure that DATA_DIR is writable and its disk has free space, then start again.\n`;
  const FAILURE = failure('no space is left on its disk');

  /** Ids of the categories in the database, once the disk has space again. */
  async function kept(): Promise<string[]> {
    const database = await openDatabase({ directory: data });
    const categories = await database.prisma.category.findMany();
    await database.close();
    return categories.map(({ id }) => String(id));
  }

  test('under load, the process ends with one line and code 74, and the next start has all acknowledged writes', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 2; round++) {
      const { url } = await start();
      const load = new Load(url, 6, mixed, 5);
      await until(() => load.tried.filter(isServed).length > 50, 30);
      disk.fill(0);
      const ending = await gateway?.ended;
      acknowledged.push(...madeCategories(await load.stop()));
      expect(ending).toMatchObject({ code: 74, stderr: FAILURE });
      // A start may need space, too.
      const again = new GatewayProcess({ PORT: '0', ...environment() });
      await until(() => again.isEnded || again.url !== '', 60);
      if (again.isEnded)
        expect((await again.ended).stderr).toMatch(/^petstore-gateway: [^\n]*(no space is left on|ENOSPC)[^\n]*\n$/);
      await again.stop('SIGKILL');
      disk.empty();
      expect(await kept()).toEqual(expect.arrayContaining(acknowledged));
    }
  });

  test.each([
    ['the disk is full', ''],
    ['the disk has no free entry for a file', 'nr_inodes'],
  ])('when the write-ahead log cannot grow, since %s, the process ends in the same way', async (_why, option) => {
    if (option) disk.remount(`${option}=${disk.files + 20}`);
    const writer = runTypeScript('test/faults/log-writer.ts', [data]);
    const [id = ''] = await writer.printed(1);
    const { code, stderr } = await writer.ended;
    expect({ code, stderr }).toEqual({ code: 74, stderr: FAILURE });
    disk.remount('size=400m,nr_inodes=100000');
    expect(await kept()).toEqual([id]);
  });

  test.each([0o700, 0o755])(
    'a start on a read-only disk fails with one line, for every mode of DATA_DIR',
    async (mode) => {
      chmodSync(data, mode);
      disk.remount('ro');
      const { code, stderr } = await new GatewayProcess({ PORT: '0', ...environment() }).ended;
      const line =
        /^petstore-gateway: DATA_DIR \S+ cannot be used: EROFS: [^\n]*\. Set DATA_DIR to a directory that [^\n]*\n$/;
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(line) });
    },
  );

  test('when the disk becomes read-only, the process ends with one line and code 74, and keeps all acknowledged writes', async () => {
    const { url } = await start();
    const create = (path: string, body: object) =>
      ask(url, { method: 'POST', path, headers: HEADERS, body: JSON.stringify(body) });
    expect(await create('/categories', { name: 'Dogs' })).toMatchObject({ status: 201 });
    disk.protect(data);
    await create('/store/orders', {}).catch(() => undefined);
    expect(await gateway?.ended).toMatchObject({ code: 74, stderr: failure('its file system is read-only') });
    disk.unprotect();
    expect(await kept()).toEqual(['1']);
  });

  test.each([
    ['no space at all', 0],
    ['too little space for a new database', 20],
  ])('with %s, the first start fails with a one-line error', async (_what, left) => {
    rmSync(data, { recursive: true });
    disk.fill(left);
    const { code, stderr } = await new GatewayProcess({ PORT: '0', ...environment() }).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^petstore-gateway: (?=.*\/data\b)(?=.*no space).*\n$/),
    });
  });
});

onSmallDisk('on a full disk of the log', () => {
  test('the gateway serves, loses and counts lines, and writes whole lines again after space is freed', async () => {
    const disk = new SmallDisk(2);
    const directory = makeDirectory();
    copyData(directory);
    const log = join(disk.path, 'log');
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const gateway = new GatewayProcess(
      { PATH: process.env.PATH ?? '', DATA_DIR: directory, ADMIN_API_KEY: ADMIN_KEY, PORT: port },
      ['/bin/sh', '-c', `exec "$@" > ${log}`, 'sh', ...MAIN],
    );
    const get = (path: string) => ask(url, { path, headers: HEADERS });
    await until(async () => (await get('/livez')).status === 200, 60);
    disk.fill(0.03);
    const isLosing = async () => {
      expect((await get(`/${'x'.repeat(8000)}`)).status).toBe(404);
      return /^petstore_log_lines_lost_total [1-9]/m.test((await get('/metrics')).body ?? '');
    };
    await until(isLosing, 60);
    disk.empty();
    await until(() => gateway.stderr.includes('the log is written again'), 30);
    expect((await get('/pets')).status).toBe(200);
    const { code, stderr } = await gateway.stop();
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^petstore-gateway: the log cannot be written: ENOSPC: [^\n]*\npetstore-gateway: the log is written again\. \d+ lines have been lost since the start\.\n$/,
    );
    const lines = logOf(readFileSync(log, 'utf8'));
    expect(lines).toContainEqual(expect.objectContaining({ path: '/pets', status: 200 }));
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
    disk.remove();
    rmSync(directory, { recursive: true });
  });
});

test('the write-ahead log stays short after 700 MB of writes, and no write is rejected', async () => {
  const directory = makeDirectory();
  copyData(directory);
  const database = await openDatabase({ directory });
  const written = async () => {
    const position = statement("select (pg_current_wal_insert_lsn() - '0/0')::float8 / 1048576 as megabytes");
    const [row] = await database.serviceSession().query<{ megabytes: number }>(position, []);
    return row?.megabytes ?? 0;
  };
  const segments = () => readdirSync(join(directory, 'postgres', 'pg_wal')).filter((name) => name.length === 24).length;
  while ((await written()) < 700)
    await database.serviceSession().transaction(async ({ prisma }) => {
      await prisma.$executeRaw`create table pages as select repeat(md5(n::text), 30) from generate_series(1, 20000) n`;
      await prisma.$executeRaw`drop table pages`;
    });
  await until(() => segments() < 5, 30);
  await database.close();
  rmSync(directory, { recursive: true });
});
