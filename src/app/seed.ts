import { parseArgs } from 'node:util';
import type { Samples } from '../domain/domain';
import { gatewayDomains } from './domains';
import { environment } from './environment';
import { GATEWAY_OPTIONS, GATEWAY_USAGE, gatewayClient } from './gateway-client';
import { print, runCommand, showStatus } from './run-command';

const usageOf = ({ what, unit, default: usual, max, scaled }: Samples) =>
  `Adds sample data to a running gateway: ${what}.

  npm run seed -- [--${unit} N]

  ${`--${unit} N`.padEnd(12)} number of ${unit}, 1 to ${max} (default ${usual})${scaled ? `; ${scaled}` : ''}
${GATEWAY_USAGE}
  --help       show this help
`;

async function seed(): Promise<void> {
  const { samples } = gatewayDomains();
  if (!samples) throw new Error('no domain has samples.');
  const { amount, values } = readArguments(samples, process.argv.slice(2));
  if (values.help) {
    print(usageOf(samples));
    return;
  }
  const start = Date.now();
  const loaded = Object.entries(await samples.load(gatewayClient(values, environment()), amount, showProgress));
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  const counts = loaded.map(([name, count]) => `${name} ${count}`).join(', ');
  print(`Added in ${seconds} s: ${counts}.\n`);
}

const BAR = 40;

/** Shows a progress bar. */
function showProgress(done: number, total: number): void {
  const filled = '█'.repeat((done / total) * BAR);
  showStatus(`\r${filled.padEnd(BAR, '░')} ${Math.floor((done / total) * 100)} %${done === total ? '\n' : ''}`);
}

/** @throws Error for unknown flags and invalid values. */
function readArguments({ unit, default: usual, max }: Samples, args: string[]) {
  const { values } = parseArgs({
    args,
    options: { ...GATEWAY_OPTIONS, [unit]: { type: 'string', default: String(usual) }, help: { type: 'boolean' } },
  });
  const text = String((values as Readonly<Record<string, unknown>>)[unit]);
  const amount = Number(text);
  if (!/^[0-9]+$/.test(text) || amount < 1 || amount > max)
    throw new Error(`--${unit} must be an integer from 1 to ${max}, not "${text}"`);
  return { amount, values };
}

runCommand('seed', seed);
