import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Database } from '../../../src/database/database';
import { openDatabase } from '../../../src/database/open';
import { statement } from '../../../src/database/statement';
import { loadSampleData } from '../../../src/petstore/sample-data';
import { PROJECT } from '../../helper/command';
import { TEST_DATABASE_URL } from '../../helper/database';
import { makeDirectory } from '../../helper/installation';
import { copyData } from '../../helper/prepared';

/** The commands in the guide, without their comments. */
const COMMANDS = [...readFileSync(join(PROJECT, 'docs', 'backup.md'), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ +# .*/, ''));

const TABLES = ['_prisma_migrations', 'categories', 'pets', 'orders', 'inventory', 'api_keys'];

let directory: string;
beforeAll(() => {
  directory = makeDirectory();
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Runs the command of the guide that begins with `start`. */
function run(start: string, environment: Record<string, string> = {}): void {
  const command = COMMANDS.find((line) => line.startsWith(start)) ?? `no command in the guide begins with ${start}`;
  execFileSync('bash', ['-ec', command.replace(/\bnpm run/g, `npm --prefix ${PROJECT} run`)], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, DATA_DIR: join(directory, 'data'), ...environment },
  });
}

/** Every row of every table. */
async function rowsOf(database: Database): Promise<unknown> {
  const selects = TABLES.map((name) => `(select json_agg(t order by t::text) from ${name} t)::text as "${name}"`);
  return database.query(statement(`select ${selects.join(', ')}`), []);
}

const isInstalled = spawnSync('psql', ['--version']).status === 0;
const onPostgres = TEST_DATABASE_URL && isInstalled ? test : test.skip;

onPostgres('the commands of the guide move an embedded database to PostgreSQL, and PostgreSQL to another', async () => {
  const server = new URL(String(TEST_DATABASE_URL));
  const client = new Client({ connectionString: server.href });
  await client.connect();
  const create = async (name: string) => {
    server.pathname = `/${process.env.TEST_DATABASE_PREFIX}${name}`;
    await client.query(`create database ${server.pathname.slice(1)}`);
    return server.href;
  };
  const [DATABASE_URL, NEW_DATABASE_URL] = [await create('dumped'), await create('restored')];
  await client.end();

  copyData(join(directory, 'data'));
  const embedded = await openDatabase({ directory: join(directory, 'data') });
  await loadSampleData(embedded, 300);
  await embedded.prisma.category.create({ data: { name: `it's "\\\n\u2028 \u{1f431}`, description: '' } });
  const expected = await rowsOf(embedded);
  await embedded.close();

  run('npm run -s dump');
  run('psql', { DATABASE_URL });
  run('pg_dump', { DATABASE_URL });
  run('pg_restore', { NEW_DATABASE_URL });
  for (const url of [DATABASE_URL, NEW_DATABASE_URL]) {
    const database = await openDatabase({ url, directory: '' });
    expect(await rowsOf(database)).toEqual(expected);
    expect(await database.prisma.order.create({ data: {} })).toMatchObject({ id: 151n });
    await database.close();
  }
});
