import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataDirectory } from '../../../src/database/embedded/data-directory';
import { openDatabase } from '../../../src/database/open';
import { makeDirectory } from '../../helper/installation';

let above: string;
let directory: string;
let mask: number;
beforeEach(() => {
  mask = process.umask(0);
  above = makeDirectory();
  directory = join(above, 'some', 'data');
});
afterEach(() => {
  process.umask(mask);
  rmSync(above, { recursive: true });
});

const modeOf = (...path: string[]) => (statSync(join(directory, ...path)).mode & 0o777).toString(8);

describe('permissions are restricted to the owner for', () => {
  test('a new data directory', () => {
    makeDataDirectory(directory);
    expect(modeOf()).toBe('700');
  });

  test('a data directory that other users could read, with or without a database', () => {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    makeDataDirectory(directory);
    expect(modeOf()).toBe('700');
    chmodSync(directory, 0o777);
    mkdirSync(join(directory, 'postgres'), { mode: 0o755 });
    writeFileSync(join(directory, 'lock.7'), '');
    makeDataDirectory(directory);
    expect([modeOf(), modeOf('postgres')]).toEqual(['700', '700']);
  });

  test('only the database inside, if the directory has other files', () => {
    mkdirSync(join(directory, 'postgres'), { recursive: true, mode: 0o755 });
    writeFileSync(join(directory, 'notes.txt'), '');
    makeDataDirectory(directory);
    expect([modeOf(), modeOf('postgres')]).toEqual(['755', '700']);
  });
});

test.each([
  [
    '17',
    /^\S+ contains a PostgreSQL 17 database; this version of the gateway reads PostgreSQL 18\. .*dump.*restore.*$/,
  ],
  ['18', /^\S+ cannot be opened as a database: .*$/],
])('each start on an unusable database (version %s) fails with a one-line error', async (version, line) => {
  mkdirSync(join(directory, 'postgres'), { recursive: true });
  writeFileSync(join(directory, 'postgres', 'PG_VERSION'), `${version}\n`);
  for (let start = 0; start < 2; start++) await expect(openDatabase({ directory })).rejects.toThrow(line);
});

test.each<[what: string, make: () => string]>([
  [
    'a file',
    () => {
      writeFileSync(join(above, 'file'), '');
      return join(above, 'file');
    },
  ],
  [
    'below a file',
    () => {
      writeFileSync(join(above, 'file'), '');
      return join(above, 'file', 'data');
    },
  ],
  [
    'a link to nothing',
    () => {
      symlinkSync(join(above, 'nothing'), join(above, 'link'));
      return join(above, 'link');
    },
  ],
])('if DATA_DIR is %s, the start fails with one line that names it and the remedy', async (_what, make) => {
  const path = make();
  await expect(openDatabase({ directory: path })).rejects.toThrow(
    new RegExp(`^DATA_DIR ${path} cannot be used: \\w+: .*\\. Set DATA_DIR to a directory .*\\.$`),
  );
});
