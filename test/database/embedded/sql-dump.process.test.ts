import { execFile } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';
import { openDatabase } from '../../../src/database/open';
import { loadSampleData } from '../../../src/petstore/sample-data';
import { command } from '../../helper/command';
import { makeDirectory } from '../../helper/installation';
import { copyData } from '../../helper/prepared';
import { type Ending, quick } from '../../helper/process';

/** Text that a line-based or naive SQL parser would split or change. */
const NAME = `it's a "name"; \\ -- '';\nINSERT INTO x;\r\n\u2028 \u{1f431} $$ {,} é`;

let directory: string;
let dump: string;
const at = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = makeDirectory();
  copyData(at('data'));
  const database = await openDatabase({ directory: at('data') });
  await loadSampleData(database, 300);
  await database.prisma.category.create({ data: { name: NAME, description: '' } });
  await database.prisma.order.create({ data: { shipDate: new Date('0099-01-02T03:04:05.678Z') } });
  await database.prisma.apiKey.create({
    data: { id: 'abcdefghijkl', secretHash: Buffer.alloc(32, 7), name: NAME, plan: 'FREE', scopes: ['READ', 'WRITE'] },
  });
  await database.close();
  const { stdout, ...ending } = await run('dump', [], { DATA_DIR: at('data') });
  expect(ending).toEqual({ code: 0, stderr: '' });
  dump = stdout;
});
afterAll(() => rmSync(directory, { recursive: true }));

function run(name: string, args: string[], environment: Record<string, string>): Promise<Omit<Ending, 'signal'>> {
  const [program, ...options] = quick(command(name));
  const env = { PATH: process.env.PATH ?? '', ...environment };
  return new Promise((resolve) => {
    execFile(program, [...options, ...args], { env, cwd: directory }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe('npm run dump and npm run restore', () => {
  test('copy every row, and ids continue', async () => {
    writeFileSync(at('store.sql'), dump);
    const target = { DATA_DIR: at('restored') };
    expect(await run('restore', ['store.sql'], target)).toEqual({
      code: 0,
      stdout: `Restored store.sql into ${at('restored')}.\n`,
      stderr: '',
    });
    expect(readdirSync(target.DATA_DIR).sort()).toEqual([expect.stringMatching(/^lock\.\d+$/), 'postgres']);
    expect((await run('dump', [], target)).stdout).toBe(dump);
    const database = await openDatabase({ directory: target.DATA_DIR });
    const { prisma } = database;
    expect(await prisma.category.findFirst({ where: { description: '' } })).toMatchObject({ id: 10n, name: NAME });
    expect(await prisma.pet.count()).toBe(300);
    expect(await prisma.order.create({ data: {} })).toMatchObject({ id: 152n });
    await database.close();
  });

  test('reject wrong arguments and files in one line, and leave nothing behind', async () => {
    writeFileSync(at('cut.sql'), dump.slice(0, dump.length / 2));
    writeFileSync(at('other.sql'), 'select 1;\n');
    writeFileSync(at('wrong.sql'), dump.replace('INSERT INTO public.pets', 'INSERT INTO public.cats'));
    writeFileSync(at('store.sql'), dump);
    const before = readdirSync(directory);
    const rejected: [name: string, args: string[], environment: Record<string, string>, line: RegExp][] = [
      ['restore', [], {}, /^restore: name one file: npm run restore -- FILE\n$/],
      ['restore', ['none.sql'], {}, /^restore: none\.sql cannot be read: ENOENT.*\n$/],
      ['restore', [directory], {}, /^restore: \S+ cannot be read: EISDIR.*\n$/],
      ['restore', ['other.sql'], {}, /^restore: other\.sql is not a dump of the gateway\. .*\n$/],
      ['restore', ['cut.sql'], {}, /^restore: cut\.sql is incomplete: its end is missing\.\n$/],
      ['restore', ['wrong.sql'], {}, /^restore: the dump cannot be loaded: relation "public\.cats" does not exist\n$/],
      ['restore', ['store.sql'], { DATA_DIR: at('data') }, /^restore: DATA_DIR \S+ holds a database already\. .*\n$/],
      [
        'restore',
        ['store.sql'],
        { DATABASE_URL: 'postgresql://a:secret@b/c' },
        /^restore: DATABASE_URL .*pg_restore.*\n$/,
      ],
      ['dump', [], { DATABASE_URL: 'postgresql://a:secret@b/c' }, /^dump: DATABASE_URL is set\. Use pg_dump .*\n$/],
      ['dump', ['store.sql'], {}, /^dump: Unexpected argument 'store\.sql'\..*\n$/],
      ['dump', [], {}, /^dump: DATA_DIR \S+ has no database\.\n$/],
    ];
    const endings = rejected.map(async ([name, args, environment, line]) => {
      const ending = await run(name, args, { DATA_DIR: at('target'), ...environment });
      expect([args, ending]).toEqual([args, { code: 1, stdout: '', stderr: expect.stringMatching(line) }]);
    });
    for (const ending of endings) await ending;
    expect(readdirSync(directory)).toEqual(before);
  });

  test('say what to do while the gateway runs', async () => {
    const unlock = lockDirectory(at('data'));
    const { code, stdout, stderr } = await run('dump', [], { DATA_DIR: at('data') });
    unlock();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^dump: \S+ is in use by process \d+\. Stop the gateway \(Ctrl\+C\), run this again, .*\n$/);
  });
});
