/**
 * Tries to lock one directory after another, each at the moment given to all contenders, and prints which it got.
 * Arguments: the parent directory, how many there are, when to start (milliseconds since 1970).
 */
import { join } from 'node:path';
import { lockDirectory } from '../../src/database/directory-lock';

const MILLISECONDS_EACH = 10;
const [directory = '', rounds, start] = process.argv.slice(2);

const taken: number[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const begin = Number(start) + round * MILLISECONDS_EACH;
  while (Date.now() < begin);
  try {
    lockDirectory(join(directory, String(round)));
    taken.push(round);
  } catch (error) {
    if (!/in use by process \d+/.test(String(error))) throw error;
  }
}
process.stdout.write(`${JSON.stringify(taken)}\n`);
// Its locks are held until all have tried.
setInterval(() => undefined, 60_000);
