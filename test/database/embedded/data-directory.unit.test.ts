import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataDirectory } from '../../../src/database/embedded/data-directory';
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

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the data directory is for its owner alone', () => {
  test('when it is made', () => {
    makeDataDirectory(directory);
    expect(modeOf(directory)).toBe('700');
  });

  test('when it was open, empty or with a database', () => {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    makeDataDirectory(directory);
    expect(modeOf(directory)).toBe('700');
    chmodSync(directory, 0o777);
    mkdirSync(join(directory, 'postgres'), { mode: 0o755 });
    writeFileSync(join(directory, 'lock.7'), '');
    makeDataDirectory(directory);
    expect([modeOf(directory), modeOf(join(directory, 'postgres'))]).toEqual(['700', '700']);
  });

  test('but for one that holds other things: there the cluster is', () => {
    mkdirSync(join(directory, 'postgres'), { recursive: true, mode: 0o755 });
    writeFileSync(join(directory, 'notes.txt'), '');
    makeDataDirectory(directory);
    expect([modeOf(directory), modeOf(join(directory, 'postgres'))]).toEqual(['755', '700']);
  });
});
