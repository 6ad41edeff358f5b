import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Database } from '../../../src/database/database';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';
import { openDatabase } from '../../../src/database/open';
import { statement } from '../../../src/database/statement';
import { command, PROJECT } from '../../helper/command';
import { TEST_DATABASE_URL } from '../../helper/database';
import { makeDirectory } from '../../helper/installation';
import { copyData } from '../../helper/prepared';
import { type Ending, quick } from '../../helper/process';

/** Lines that look like commands of psql, after each line terminator of JavaScript. */
const COMMAND_LINES = ['\n', '\r', '\r\n', '\u2028', '\u2029']
  .flatMap((end) =>
    ['\\restrict x', '\\UNRESTRICT', '\\\\restrict', '\\\\\\restrict', '\\'].map((line) => `${end}${line}`),
  )
  .join('');
/** Text that a line-based or naive SQL parser would split or change. */
const NAME = `it's a "name"; \\ -- '';\nINSERT INTO x;\r\n\u2028 \u{1f431} $$ {,} é\n\\restrict\r\\unrestrict x`;
const TABLES = ['_prisma_migrations', 'categories', 'pets', 'orders', 'inventory', 'api_keys', 'events', 'last_event'];

/** A store with more rows than one page of a table. */
const ROWS = [
  "insert into categories (name, description) select 'Kind ' || i, 'Number ' || i from generate_series(1, 9) as i",
  "insert into pets (name, status, category_id) select 'Pet ' || i, 'pending', 1 + i % 9 from generate_series(1, 300) as i",
  'insert into inventory (pet_id, quantity) select id, id from pets where id % 2 = 0',
  'insert into orders (pet_id, quantity, ship_date) select id, 2, now() from pets where id % 2 = 0',
  "insert into events (position, topic, kind, object_id) select nullif(i, 300), 'pet', 'CREATED', i from generate_series(1, 300) as i",
  'update last_event set position = 299, id = 299, at = (select at from events where id = 299)',
];

let directory: string;
let dump: string;
let rows: unknown;
const at = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = makeDirectory();
  copyData(at('data'));
  const database = await openDatabase({ directory: at('data') });
  for (const text of ROWS) await database.serviceSession().write(statement(text), []);
  await database.prisma.category.create({ data: { name: NAME, description: `\\restrict${COMMAND_LINES}` } });
  // Without the line in the first name, its string would end in the second name, whose text would become a statement.
  await database.prisma.category.create({ data: { name: 'A\n\\restrict' } });
  await database.prisma.category.create({ data: { name: ',null,now(),now());\ndelete from public.pets;\n--' } });
  await database.prisma.order.create({ data: { shipDate: new Date('0099-01-02T03:04:05.678Z') } });
  await database.prisma.apiKey.create({
    data: { id: 'abcdefghijkl', secretHash: Buffer.alloc(32, 7), name: NAME, plan: 'FREE', scopes: ['READ', 'WRITE'] },
  });
  rows = await rowsOf(database);
  await database.close();
  const { stdout, ...ending } = await run('dump', [], { DATA_DIR: at('data') });
  expect(ending).toEqual({ code: 0, stderr: '' });
  dump = stdout;
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Every row of every table. */
async function rowsOf(database: Database): Promise<unknown> {
  const selects = TABLES.map((name) => `(select json_agg(t order by t::text) from ${name} t)::text as "${name}"`);
  return database.serviceSession().query(statement(`select ${selects.join(', ')}`), []);
}

/** Expects that the database has the dumped rows, and that the id of a new order follows the last dumped id. */
async function expectRestored(target: { url?: string; directory: string }): Promise<void> {
  const database = await openDatabase(target);
  expect(await rowsOf(database)).toEqual(rows);
  expect(await database.prisma.order.create({ data: {} })).toMatchObject({ id: 152n });
  await database.close();
}

function run(name: string, args: string[], environment: Record<string, string>): Promise<Omit<Ending, 'signal'>> {
  const [program, ...options] = quick(command(`app/${name}`));
  const env = { PATH: process.env.PATH ?? '', ...environment };
  return new Promise((resolve) => {
    execFile(program, [...options, ...args], { env, cwd: directory }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe('npm run dump and npm run restore', () => {
  test('copy every row, and new rows continue the sequence of ids', async () => {
    writeFileSync(at('store.sql'), dump);
    const target = { DATA_DIR: at('restored') };
    const stdout = `Restored store.sql into ${at('restored')}.\n`;
    expect(await run('restore', ['store.sql'], target)).toEqual({ code: 0, stdout, stderr: '' });
    expect(readdirSync(target.DATA_DIR).sort()).toEqual([expect.stringMatching(/^lock\.\d+$/), 'postgres']);
    expect((await run('dump', [], target)).stdout).toBe(dump);
    await expectRestored({ directory: target.DATA_DIR });
  });

  test('reject wrong arguments and files with a one-line error, and leave no files behind', async () => {
    writeFileSync(at('cut.sql'), dump.slice(0, dump.length / 2));
    writeFileSync(at('other.sql'), 'select 1;\n');
    writeFileSync(at('wrong.sql'), dump.replace('INSERT INTO public.pets', 'INSERT INTO public.cats'));
    writeFileSync(at('store.sql'), dump);
    const before = readdirSync(directory);
    const server = { DATABASE_URL: 'postgresql://a:secret@b/c' };
    const rejected: [name: string, args: string[], environment: Record<string, string>, line: RegExp][] = [
      ['restore', [], {}, /^restore: name one file: npm run restore -- FILE\n$/],
      ['restore', ['none.sql'], {}, /^restore: none\.sql cannot be read: ENOENT.*\n$/],
      ['restore', [directory], {}, /^restore: \S+ cannot be read: EISDIR.*\n$/],
      ['restore', ['other.sql'], {}, /^restore: other\.sql is not a dump of the gateway\. .*\n$/],
      ['restore', ['cut.sql'], {}, /^restore: cut\.sql is incomplete: its end is missing\.\n$/],
      ['restore', ['wrong.sql'], {}, /^restore: the dump cannot be loaded: relation "public\.cats" does not exist\n$/],
      [
        'restore',
        ['store.sql'],
        { DATA_DIR: at('data') },
        /^restore: DATA_DIR \S+ already contains a database\. .*\n$/,
      ],
      ['restore', ['store.sql'], server, /^restore: DATABASE_URL .*pg_restore.*\n$/],
      ['dump', [], server, /^dump: DATABASE_URL is set\. Use pg_dump .*\n$/],
      ['dump', ['store.sql'], {}, /^dump: Unexpected argument 'store\.sql'\..*\n$/],
      ['dump', [], {}, /^dump: DATA_DIR \S+ has no database\.\n$/],
    ];
    const endings = rejected.map(([name, args, more]) => run(name, args, { DATA_DIR: at('target'), ...more }));
    expect(await Promise.all(endings)).toEqual(
      rejected.map(([, , , line]) => ({ code: 1, stdout: '', stderr: expect.stringMatching(line) })),
    );
    expect(readdirSync(directory)).toEqual(before);
  });

  test('fail while the gateway runs, and say what to do', async () => {
    const { release } = await lockDirectory(at('data'));
    const { code, stdout, stderr } = await run('dump', [], { DATA_DIR: at('data') });
    release();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^dump: \S+ is in use by process \d+\. Stop the gateway \(Ctrl\+C\), run this command again, .*\n$/,
    );
  });
});

/** The shell commands in docs/backup.md, without their comments. */
const COMMANDS = [...readFileSync(join(PROJECT, 'docs', 'backup.md'), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ +# .*/, ''));

/** Runs the command in docs/backup.md that begins with `start`. */
function follow(start: string, environment: Record<string, string> = {}): void {
  const line = COMMANDS.find((each) => each.startsWith(start)) ?? `echo no command begins with ${start}; exit 1`;
  execFileSync('bash', ['-ec', line.replace(/\bnpm run/g, `npm --prefix ${PROJECT} run`)], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, DATA_DIR: at('data'), ...environment },
  });
}

const isInstalled = spawnSync('psql', ['--version']).status === 0;
const onPostgres = TEST_DATABASE_URL && isInstalled ? test : test.skip;

onPostgres('the commands in docs/backup.md copy embedded data to PostgreSQL, and then to a new database', async () => {
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

  follow('npm run -s dump');
  follow('psql', { DATABASE_URL });
  follow('pg_dump', { DATABASE_URL });
  follow('pg_restore', { NEW_DATABASE_URL });
  for (const url of [DATABASE_URL, NEW_DATABASE_URL]) await expectRestored({ url, directory: '' });
});
