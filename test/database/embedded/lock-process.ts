/**
 * Locks the directory given as the first argument, prints `locked`, and holds the lock until SIGTERM. The second argument is
 * the interval of renewals in milliseconds.
 *
 * The third argument, if given, is a number of subdirectories that {@link COMPETITORS} processes compete for. The process
 * prints `ready`, and waits for the file `start`, which contains the start time (milliseconds since 1970). It then prints the
 * numbers of the subdirectories that it has locked. It holds each lock until all processes have tried.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';
import { COMPETITORS } from './competitors';

const MILLISECONDS_EACH = 20;
const [directory = '', beatMs, rounds] = process.argv.slice(2);
// Keeps the process running, so that it holds its locks until a signal.
setInterval(() => undefined, 60_000);

async function hold(): Promise<void> {
  const { release } = await lockDirectory(directory, Number(beatMs));
  process.on('SIGTERM', () => {
    release();
    process.exit(0);
  });
  process.stdout.write('locked\n');
}

async function compete(): Promise<void> {
  process.stdout.write('ready\n');
  const signal = join(directory, 'start');
  while (!existsSync(signal)) await setTimeout(5);
  const start = Number(readFileSync(signal, 'utf8'));
  const locked: number[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    while (Date.now() < start + round * MILLISECONDS_EACH);
    if (await lockUntilAllHaveTried(String(round))) locked.push(round);
  }
  process.stdout.write(`${JSON.stringify(locked)}\n`);
}

async function lockUntilAllHaveTried(round: string): Promise<boolean> {
  let isLocked = true;
  let release = () => {};
  try {
    ({ release } = await lockDirectory(join(directory, round), Number(beatMs)));
  } catch (error) {
    if (!/in use by process \d+/.test(String(error))) throw error;
    isLocked = false;
  }
  writeFileSync(join(directory, `${round}.tried.${process.pid}`), '');
  const isOver = () =>
    readdirSync(directory).filter((name) => name.startsWith(`${round}.tried.`)).length === COMPETITORS;
  if (isLocked) {
    void (async () => {
      while (!isOver()) await setTimeout(20);
      release();
    })();
  }
  return isLocked;
}

(rounds ? compete() : hold()).catch((error: Error) => {
  process.stderr.write(error.message);
  process.exit(1);
});
