/**
 * Tries to lock one directory after another, each at the moment given to all contenders, and prints which it got.
 * Arguments: the parent directory, and how many there are. When it is ready it says so, and waits for a file `start` in
 * the parent directory: when to start (milliseconds since 1970).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';

const MILLISECONDS_EACH = 10;
const [directory = '', rounds] = process.argv.slice(2);
const signal = join(directory, 'start');

function race(): void {
  const start = Number(readFileSync(signal, 'utf8'));
  const taken: number[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    const begin = start + round * MILLISECONDS_EACH;
    while (Date.now() < begin);
    try {
      lockDirectory(join(directory, String(round)));
      taken.push(round);
    } catch (error) {
      if (!/in use by process \d+/.test(String(error))) throw error;
    }
  }
  process.stdout.write(`${JSON.stringify(taken)}\n`);
}

process.stdout.write('ready\n');
// Its locks are held until all have tried.
const waiting = setInterval(() => {
  if (!existsSync(signal)) return;
  clearInterval(waiting);
  setInterval(() => undefined, 60_000);
  race();
}, 5);
