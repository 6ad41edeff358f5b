import { parseArgs } from 'node:util';
import { openDatabase } from '../database/open';
import { loadSampleData, MAX_SAMPLE_PETS } from '../petstore/samples';
import { readConfig } from './config';
import { environment } from './environment';
import { runCommand } from './run-command';

const USAGE = `Fills an empty database with sample data: categories, pets, orders and stock. The same number gives the same data.

  npm run seed -- [--pets N]

  --pets N   number of pets, 1 to ${MAX_SAMPLE_PETS} (default 1000); orders and categories are scaled to match
  --help     show this help

It opens the same database as the server: DATABASE_URL, or else the embedded one in DATA_DIR, which only one process at a
time can open. Stop the server meanwhile: its data stay.
`;

/** How long one statement may take, in milliseconds: no client is waiting. */
const STATEMENT_PATIENCE = 600_000;

async function seed(): Promise<void> {
  const { pets, help } = readArguments(process.argv.slice(2));
  if (help) {
    process.stdout.write(USAGE);
    return;
  }
  const config = readConfig(environment());
  const database = await openDatabase({
    url: config.DATABASE_URL,
    directory: config.DATA_DIR,
    requestTimeoutMs: STATEMENT_PATIENCE,
  });
  const start = Date.now();
  try {
    const { categories, orders, inventory } = await loadSampleData(database, pets, showProgress);
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    process.stdout.write(
      `Added to ${database.description} in ${seconds} s: ` +
        `pets ${pets}, categories ${categories}, orders ${orders}, stock entries ${inventory}.\n`,
    );
  } finally {
    await database.close();
  }
}

const BAR = 40;

/** A progress bar, in a terminal. */
function showProgress(done: number, total: number): void {
  if (!process.stderr.isTTY) return;
  const filled = '█'.repeat((done / total) * BAR);
  process.stderr.write(
    `\r${filled.padEnd(BAR, '░')} ${Math.floor((done / total) * 100)} %${done === total ? '\n' : ''}`,
  );
}

/** @throws Error for unknown flags and invalid values. */
function readArguments(args: string[]): { pets: number; help: boolean } {
  const options = {
    pets: { type: 'string', default: '1000' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ args, options });
  const pets = Number(values.pets);
  if (!/^[0-9]+$/.test(values.pets) || pets < 1 || pets > MAX_SAMPLE_PETS) {
    throw new Error(`--pets must be an integer from 1 to ${MAX_SAMPLE_PETS}, not "${values.pets}"`);
  }
  return { pets, help: values.help };
}

runCommand('seed', seed);
