import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { openDatabase } from '../../src/database/open';
import { loadSampleData } from '../../src/samples/sample-data';
import { PROJECT } from '../helper/command';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { makeDirectory } from '../helper/installation';
import { copyData } from '../helper/prepared';

/** The lines of the blocks of shell commands in the guide. */
const COMMANDS = [...readFileSync(join(PROJECT, 'docs', 'backup.md'), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ +# .*/, ''));

let directory: string;
beforeEach(async () => {
  directory = makeDirectory();
  copyData(join(directory, 'data'));
  const database = await openDatabase({ directory: join(directory, 'data') });
  await loadSampleData(database, 50);
  await database.close();
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a command of the guide, in its directory. */
function run(command: string, environment: Record<string, string>): string {
  const { PATH = '' } = process.env;
  const here = command.replace(/\bnpm run/g, `npm --silent --prefix ${PROJECT} run`).replaceAll('/backups', directory);
  return execFileSync('bash', ['-ec', here], {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH, HOME: directory, DATA_DIR: join(directory, 'data'), ...environment },
  });
}

function documented(start: string): string {
  return COMMANDS.find((line) => line.startsWith(start)) ?? `no command in the guide begins with ${start}`;
}

test('the commands of the guide back up and restore the embedded database', () => {
  expect(run(documented('npm run backup'), {})).toMatch(/^Wrote .*\bpets 50\b/);
  const restored = { DATA_DIR: join(directory, 'restored') };
  expect(run(documented('npm run restore'), restored)).toMatch(/^Restored .*, and compared: .*\bpets 50\b/);
});

const onPostgres = TEST_DATABASE_URL && spawnSync('pg_dump', ['--version']).status === 0 ? describe : describe.skip;

onPostgres('on PostgreSQL', () => {
  test('the commands of the guide export, and dump and restore with its own tools', async () => {
    const { url = '', drop } = await createDatabase();
    const exporting = documented('npm run export').replace(/postgresql:\S+/, url);
    expect(run(exporting, {})).toMatch(/^Exported .*, and compared: .*\bpets 50\b/);
    const client = new Client({ connectionString: url });
    await client.connect();
    const name = `${process.env.TEST_DATABASE_PREFIX}dumped`;
    await client.query(`create database ${name}`);
    const target = new URL(url);
    target.pathname = `/${name}`;
    const environment = { DATABASE_URL: url, NEW_DATABASE_URL: target.href };
    run(documented('pg_dump'), environment);
    run(documented('pg_restore'), environment);
    const database = await openDatabase({ url: target.href, directory: '' });
    expect(await database.prisma.pet.count()).toBe(50);
    await database.close();
    await client.end();
    await drop();
  });
});
