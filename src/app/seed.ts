import { parseArgs } from 'node:util';
import { openDatabase } from '../database/open';
import type { Samples } from '../rest/domain';
import { readConfig } from './config';
import { gatewayDomains } from './domains';
import { environment } from './environment';
import { print, runCommand, showStatus } from './run-command';

const usageOf = ({ what, unit, default: usual, max, scaled }: Samples) =>
  `Fills an empty database with sample data: ${what}. The same number gives the same data.

  npm run seed -- [--${unit} N]

  --${unit} N   number of ${unit}, 1 to ${max} (default ${usual})${scaled ? `; ${scaled}` : ''}
  --help     show this help

The command opens the same database as the server: DATABASE_URL, or else the embedded database in DATA_DIR. Only one
process at a time can open the embedded database, so stop the server first.
`;

/** Time limit of a statement, in milliseconds. It is long because no client waits for the statement. */
const STATEMENT_MS = 600_000;

async function seed(): Promise<void> {
  const { samples } = gatewayDomains();
  if (!samples) throw new Error('no domain has samples.');
  const { amount, help } = readArguments(samples, process.argv.slice(2));
  if (help) {
    print(usageOf(samples));
    return;
  }
  const config = readConfig(environment());
  const database = await openDatabase({
    url: config.DATABASE_URL,
    directory: config.DATA_DIR,
    requestTimeoutMs: STATEMENT_MS,
  });
  const start = Date.now();
  try {
    const loaded = Object.entries(await samples.load(database, amount, showProgress));
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    const rows = loaded.map(([name, count]) => `${name} ${count}`).join(', ');
    print(`Added to ${database.description} in ${seconds} s: ${rows}.\n`);
  } finally {
    await database.close();
  }
}

const BAR = 40;

/** Shows a progress bar. */
function showProgress(done: number, total: number): void {
  const filled = '█'.repeat((done / total) * BAR);
  showStatus(`\r${filled.padEnd(BAR, '░')} ${Math.floor((done / total) * 100)} %${done === total ? '\n' : ''}`);
}

/** @throws Error for unknown flags and invalid values. */
function readArguments({ unit, default: usual, max }: Samples, args: string[]): { amount: number; help: boolean } {
  const { values } = parseArgs({
    args,
    options: { [unit]: { type: 'string', default: String(usual) }, help: { type: 'boolean', default: false } },
  });
  const text = String(values[unit]);
  const amount = Number(text);
  if (!/^[0-9]+$/.test(text) || amount < 1 || amount > max)
    throw new Error(`--${unit} must be an integer from 1 to ${max}, not "${text}"`);
  return { amount, help: values.help === true };
}

runCommand('seed', seed);
