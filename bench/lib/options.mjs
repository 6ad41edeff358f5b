import { parseArgs } from 'node:util';

const names = { type: 'string' };

/** Reads the command line. The parameters of this function are the defaults, which differ between the benchmarks. */
export function readOptions({ rounds = '3', seconds = '3', connections = '16' } = {}) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: rounds },
      seconds: { type: 'string', default: seconds },
      warmup: { type: 'string', default: '10' },
      connections: { type: 'string', default: connections },
      database: { type: 'string', default: 'petstore_bench' },
      only: names,
      work: names,
      write: { type: 'boolean', default: false },
      embedded: { type: 'boolean', default: false },
    },
  });
  const loads = values.connections.split(',').map((each) => positive('connections', each));
  return {
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    warmup: positive('warmup', values.warmup),
    connections: loads[0],
    loads,
    database: values.database,
    only: values.only?.split(','),
    work: values.work?.split(','),
    write: values.write,
    embedded: values.embedded,
  };
}

/** The entries of a table that `wanted` names; all entries if `wanted` is undefined. */
export function pick(table, wanted, flag) {
  const unknown = wanted?.filter((name) => !table.some((entry) => entry.name === name)) ?? [];
  if (unknown.length) {
    refuse(`--${flag} ${unknown.join(',')}: unknown, choose from ${table.map(({ name }) => name).join(', ')}`);
  }
  return wanted ? table.filter(({ name }) => wanted.includes(name)) : table;
}

function positive(flag, text) {
  const value = Number(text);
  if (!(value > 0)) refuse(`--${flag} must be a positive number, not ${text}`);
  return value;
}

function refuse(message) {
  console.error(message);
  process.exit(2);
}
