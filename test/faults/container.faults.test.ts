import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Container } from '../helper/container';
import { ADMIN_KEY } from '../helper/gateway';
import { buildImage, type Image } from '../helper/image-build';
import { NO_ROOT } from '../helper/image-root';
import { accepts } from '../helper/pgbouncer';
import { PostgresServer } from '../helper/postgres-server';
import { environmentOf } from '../helper/production';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { endOf, run } from '../helper/run';
import { until } from '../helper/until';

const HEADERS = { 'x-api-key': ADMIN_KEY };

describe("the image, built by the Dockerfile's instructions in a root of its own", () => {
  let image: Image;
  let volume: string;
  let container: Container | undefined;
  beforeAll(async () => {
    if (NO_ROOT) throw new Error(NO_ROOT);
    const began = Date.now();
    image = await buildImage();
    const [size] = (await run('du', ['-sm', join(image.root.path, 'app')])).split('\t');
    process.stderr.write(`image: built in ${Math.round((Date.now() - began) / 1000)} s, /app has ${size} MB\n`);
    volume = mkdtempSync(join(tmpdir(), 'volume-'));
    await run('chown', ['1000:1000', volume]);
    await image.root.seal(volume, '/app/data');
  }, 600_000);
  afterEach(async () => {
    await container?.kill();
    container = undefined;
  });
  afterAll(() => {
    image?.remove();
    if (volume) rmSync(volume, { recursive: true });
  });

  const start = async (environment: Record<string, string>) => {
    const started = await Container.start(image, environment);
    container = started;
    await until(async () => (await started.ask('/readyz')).status === 200, 60).catch((error) => {
      throw new Error(`${error}: ${started.output}`);
    });
    return started;
  };

  const expectService = async (started: Container) => {
    const asked = await Promise.all(
      ['/livez', '/pets', '/docs', '/docs/backup', '/openapi.json', '/graphiql'].map((path) =>
        started.ask(path, HEADERS),
      ),
    );
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(await started.isHealthy()).toBe(true);
    expect(started.process1).toMatchObject({ uid: 1000, capabilities: '0000000000000000' });
    return started;
  };

  test('serves from a volume, with nothing else to write to, and stops with 0', async () => {
    const first = await expectService(await start({ ADMIN_API_KEY: ADMIN_KEY }));
    expect((await first.ask('/categories', HEADERS, { name: 'Dogs' })).status).toBe(201);
    expect(await first.stop()).toBe(0);
    expect(await first.isHealthy()).toBe(false);
    const second = await start({});
    expect(JSON.parse((await second.ask('/categories')).body ?? '')).toEqual([{ id: 1, name: 'Dogs' }]);
    expect(await second.stop()).toBe(0);
  });

  test('serves with two workers on PostgreSQL and Redis, and stops with 0', async () => {
    const [postgres, redis] = await Promise.all([PostgresServer.start(), RedisServer.start(REDIS_BINARY ?? '')]);
    try {
      await until(() => accepts(postgres.port));
      const { PATH: _, ...servers } = environmentOf(postgres.url, redis.url);
      const gateway = await expectService(await start({ ...servers, WEB_CONCURRENCY: '2' }));
      expect((await gateway.ask('/categories', HEADERS, { name: 'Dogs' })).status).toBe(201);
      expect(await gateway.stop()).toBe(0);
    } finally {
      await container?.kill();
      await Promise.all([postgres.remove(), redis.remove()]);
    }
  });

  test('has no compiler, and no files of its own that its user may change', async () => {
    const { root, running } = image;
    const find = (...tests: string[]) =>
      endOf(root.spawn(['find', '/app', '-xdev', ...tests, '-print', '-quit'], running), 'find');
    expect(await find('-path', '*/typescript/package.json')).toBe('');
    expect(await find('-writable', '-not', '-path', '/app/data')).toBe('');
    expect(await find('-name', 'main.js')).toBe('/app/dist/main.js\n');
  });
});
