import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { loadSampleData } from '../../src/samples/sample-data';
import { runTypeScript } from '../helper/child';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { Installation, makeDirectory } from '../helper/installation';
import { ask, Load } from '../helper/load';
import { copyData } from '../helper/prepared';
import { HEADERS, isServed, madeCategories, mixed } from '../helper/traffic';
import { until } from '../helper/until';

let directory: string;
beforeEach(() => {
  directory = makeDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

const at = (name: string) => join(directory, name);
const run = (args: string[], environment: Record<string, string>) =>
  runTypeScript('src/backup.ts', args, environment).end();

/** Every row of every table. */
async function everything(data: string): Promise<unknown> {
  const database = await openDatabase({ directory: data });
  try {
    const tables = ['categories', 'pets', 'orders', 'inventory', 'api_keys', 'idempotency_keys'];
    const selects = tables.map((name) => `(select json_agg(t order by t::text) from ${name} t)::text as ${name}`);
    return await database.query(statement(`select ${selects.join(', ')}`), []);
  } finally {
    await database.close();
  }
}

/** A data directory with 300 pets, and what is hard to write down. */
async function fill(data: string): Promise<void> {
  copyData(data);
  const database = await openDatabase({ directory: data });
  await loadSampleData(database, 300);
  const { prisma } = database;
  const name = 'a "b" \\ \n \u2028 \u{1f431} {,}';
  await prisma.category.create({ data: { name, description: '' } });
  await prisma.order.create({ data: { shipDate: new Date('0099-01-02T03:04:05.678Z') } });
  const secretHash = Buffer.alloc(32, 7);
  const key = {
    id: 'abcdefghijkl',
    secretHash,
    name,
    plan: 'FREE' as const,
    scopes: ['READ' as const, 'WRITE' as const],
  };
  await prisma.apiKey.create({ data: key });
  await prisma.idempotencyKey.create({
    data: { caller: 'c', key: 'k', fingerprint: secretHash, answer: '{"a":"\\n"}', expiresAt: new Date() },
  });
  await database.close();
}

describe('npm run backup and npm run restore', () => {
  test('bring back every row of every table, and the next ids', async () => {
    await fill(at('data'));
    const written = await run(['backup', at('shop.backup')], { DATA_DIR: at('data') });
    expect(written).toEqual({
      code: 0,
      stderr: '',
      lines: [
        expect.stringMatching(/^Wrote \S+ from embedded PostgreSQL in \S+: api_keys 1, .*\bpets 300, .*orders 151\b/),
      ],
    });
    const restored = await run(['restore', at('shop.backup')], { DATA_DIR: at('restored') });
    expect(restored).toMatchObject({
      code: 0,
      stderr: '',
      lines: [expect.stringMatching(/^Restored .* and compared: /)],
    });
    expect(await everything(at('restored'))).toEqual(await everything(at('data')));
    const database = await openDatabase({ directory: at('restored') });
    expect(await database.prisma.order.create({ data: {} })).toMatchObject({ id: 152n });
    await database.close();
  });

  test('refuse what would be lost or wrong, in one line, and change nothing', async () => {
    await fill(at('data'));
    await run(['backup', at('shop.backup')], { DATA_DIR: at('data') });
    const before = await everything(at('data'));
    const text = gunzipSync(readFileSync(at('shop.backup'))).toString();
    const damaged = (name: string, change: (text: string) => string) => writeFileSync(at(name), gzipSync(change(text)));
    damaged('short', (all) => all.slice(0, all.lastIndexOf('{"footer"')));
    damaged('changed', (all) => all.replace('["7", ', '["70007", '));
    damaged('newer', (all) => all.replace('20261121000000_petstore', '20991231000000_future'));
    writeFileSync(at('text'), 'no backup');
    const cases: [file: string, data: string, line: RegExp][] = [
      ['shop.backup', 'data', /^restore: the database is not empty: api_keys has rows\. Restore into an empty one\n$/],
      ['short', 'empty', /^restore: the backup is not complete: its end is missing\n$/],
      ['changed', 'empty', /^restore: .+\n$/],
      ['newer', 'empty', /^restore: the backup is of a newer version of the gateway, .*20991231000000_future\n$/],
      ['text', 'empty', /^restore: \S+ cannot be read as a backup: .*\n$/],
      ['none', 'empty', /^restore: \S+ cannot be read as a backup: ENOENT.*\n$/],
    ];
    copyData(at('empty'));
    for (const [file, data, stderr] of cases)
      expect([file, await run(['restore', at(file)], { DATA_DIR: at(data) })]).toEqual([
        file,
        { code: 1, lines: [], stderr: expect.stringMatching(stderr) },
      ]);
    expect(await everything(at('data'))).toEqual(before);
    expect(await run(['restore', at('shop.backup')], { DATA_DIR: at('empty') })).toMatchObject({ code: 0 });
  });
});

test('a backup of an embedded database that serves is of one moment: it has every write acknowledged before, and no half of one', async () => {
  const installation = new Installation({
    ADMIN_API_KEY: ADMIN_KEY,
    MAX_EVENT_LOOP_LAG_MS: '60000',
    LOG_LEVEL: 'silent',
  });
  const { url } = await installation.start();
  await ask(url, { method: 'POST', path: '/categories', headers: HEADERS, body: '{"name":"Dogs"}' });
  const load = new Load(url, 4, mixed, 5);
  await until(async () => load.tried.filter(isServed).length > 100);
  const acknowledged = madeCategories(load.tried);
  const { code, stderr } = await run(['backup', at('live.backup')], { DATA_DIR: installation.data });
  const tried = await load.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(tried.filter((one) => !isServed(one))).toEqual([]);
  expect((await ask(url, { path: '/readyz' })).status).toBe(200);
  expect(await run(['restore', at('live.backup')], { DATA_DIR: at('restored') })).toMatchObject({
    code: 0,
    stderr: '',
  });
  const database = await openDatabase({ directory: at('restored') });
  const ids = (await database.prisma.category.findMany()).map(({ id }) => String(id));
  await database.close();
  expect(ids).toEqual(expect.arrayContaining(acknowledged));
  expect(acknowledged.length).toBeGreaterThan(10);
  await installation.remove();
});

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('PostgreSQL', () => {
  test('is what npm run export loads an embedded database into, and is backed up and restored itself', async () => {
    await fill(at('data'));
    const { url = '', drop } = await createDatabase();
    const client = new Client({ connectionString: url });
    await client.connect();
    const exported = await run(['export', '--to', url], { DATA_DIR: at('data') });
    expect(exported).toMatchObject({
      code: 0,
      stderr: '',
      lines: [expect.stringMatching(/^Exported .*, and compared: /)],
    });
    expect((await client.query('insert into orders default values returning id')).rows).toEqual([{ id: '152' }]);
    await client.query('delete from orders where id = 152');
    const again = await run(['export', '--to', url], { DATA_DIR: at('data') });
    expect(again).toMatchObject({ code: 1, lines: [], stderr: expect.stringContaining('the database is not empty') });
    expect(await run(['backup', at('pg.backup')], { DATABASE_URL: url })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['restore', at('pg.backup')], { DATA_DIR: at('restored') })).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(await everything(at('restored'))).toEqual(await everything(at('data')));
    await client.end();
    await drop();
  });
});
