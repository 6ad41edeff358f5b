/**
 * Locks the directory given as the first argument, prints `locked`, and holds the lock until SIGTERM.
 *
 * The second argument, if given, is a number of subdirectories that several processes compete for. The process prints
 * `ready`, and waits for the file `start`, which contains the start time (milliseconds since 1970). It then prints the
 * numbers of the subdirectories that it has locked.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';

const MILLISECONDS_EACH = 10;
const [directory = '', rounds] = process.argv.slice(2);
const signal = join(directory, 'start');
// Keeps the process running, so that it holds its locks until a signal.
setInterval(() => undefined, 60_000);

if (rounds) {
  process.stdout.write('ready\n');
  const waiting = setInterval(() => {
    if (!existsSync(signal)) return;
    clearInterval(waiting);
    process.stdout.write(`${JSON.stringify(race(Number(readFileSync(signal, 'utf8'))))}\n`);
  }, 5);
} else {
  try {
    const unlock = lockDirectory(directory);
    process.on('SIGTERM', () => {
      unlock();
      process.exit(0);
    });
    process.stdout.write('locked\n');
  } catch (error) {
    process.stderr.write((error as Error).message);
    process.exit(1);
  }
}

function race(start: number): number[] {
  return Array.from({ length: Number(rounds) }, (_, round) => round).filter((round) => {
    while (Date.now() < start + round * MILLISECONDS_EACH);
    try {
      lockDirectory(join(directory, String(round)));
      return true;
    } catch (error) {
      if (!/in use by process \d+/.test(String(error))) throw error;
      return false;
    }
  });
}
