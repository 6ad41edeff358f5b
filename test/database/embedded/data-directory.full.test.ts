import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../../src/database/database';
import { openDatabase } from '../../../src/database/open';
import { runTypeScript } from '../../helper/child';
import { makeDirectory } from '../../helper/installation';
import { copyData } from '../../helper/prepared';

let directory: string;
let database: Database | undefined;

beforeEach(() => {
  directory = makeDirectory();
});
afterEach(async () => {
  await close();
  rmSync(directory, { recursive: true });
});

async function open(): Promise<Database> {
  database = await openDatabase({ directory });
  return database;
}

async function close(): Promise<void> {
  await database?.close();
  database = undefined;
}

describe('a data directory', () => {
  test('is created on the first start, even after one that was killed halfway', async () => {
    mkdirSync(join(directory, 'postgres.unfinished'));
    writeFileSync(join(directory, 'postgres.unfinished', 'PG_VERSION'), '17\n');
    const { prisma, description } = await open();
    expect(description).toBe(`embedded PostgreSQL 17 in ${directory}`);
    expect(statSync(join(directory, 'postgres')).mode & 0o777).toBe(0o700);
    expect(await prisma.category.create({ data: { name: 'Dogs' } })).toEqual({
      id: 1n,
      name: 'Dogs',
      description: null,
    });
  });

  test('keeps its rows and id sequences over a restart', async () => {
    copyData(directory);
    await (await open()).prisma.category.create({ data: { name: 'Dogs' } });
    await close();
    const { prisma } = await open();
    expect(await prisma.category.findMany()).toEqual([{ id: 1n, name: 'Dogs', description: null }]);
    expect(await prisma.category.create({ data: { name: 'Cats' } })).toMatchObject({ id: 2n });
  });

  test('keeps every acknowledged write over kill -9, and no half of one', async () => {
    copyData(directory);
    const writer = runTypeScript('test/database/embedded/writer.ts', [directory]);
    const acknowledged: string[] = [];
    while (acknowledged.length < 25) acknowledged.push(await writer.line());
    acknowledged.push(...(await writer.kill('SIGKILL')));

    const { prisma } = await open();
    const kept = await prisma.category.findMany({ include: { pets: true }, orderBy: { id: 'asc' } });
    expect(kept.map((category) => String(category.id))).toEqual(expect.arrayContaining(acknowledged));
    expect(kept.map((category) => category.pets.length)).toEqual(kept.map(() => 1));
    expect(kept.length - acknowledged.length).toBeLessThanOrEqual(1);
  });

  test('can be open in one process at a time', async () => {
    copyData(directory);
    const { prisma } = await open();
    const refusal = `${directory} is in use by process ${process.pid}. Stop it, or set DATA_DIR to another directory. If it is a copy of the directory that this process uses, it may be damaged: stop the process before copying.`;
    const { code, stderr } = await runTypeScript('test/database/embedded/writer.ts', [directory]).end();
    expect({ code, stderr }).toEqual({ code: 1, stderr: refusal });
    await expect(openDatabase({ directory })).rejects.toThrow(refusal);
    expect(await prisma.category.count()).toBe(0);
  });

  test.each([
    ['16', /^\S+ holds a PostgreSQL 16 database; this version of the gateway reads PostgreSQL 17\. .*$/],
    ['17', /^\S+ cannot be opened as a database: .*$/],
  ])('without a database of this version (%s) is refused in one line, each time', async (version, line) => {
    mkdirSync(join(directory, 'postgres'));
    writeFileSync(join(directory, 'postgres', 'PG_VERSION'), `${version}\n`);
    await expect(openDatabase({ directory })).rejects.toThrow(line);
    await expect(openDatabase({ directory })).rejects.toThrow(line);
  });
});
