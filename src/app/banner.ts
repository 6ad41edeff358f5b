import type { AnonymousAccess } from '../access/account';
import type { ExampleWrite } from '../domain/domain';
import { logAnyway, printText } from '../http/logger';
import { complain } from '../http/standard-streams';
import type { FirstAdminKey } from './app';

/** What a process reports when it starts to serve. */
export interface Report {
  /** The name and version of the service, such as `Petstore Gateway 1.0.0`. */
  readonly product: string;
  /** The URL of the gateway, such as `http://127.0.0.1:4000`. */
  readonly address: string;
  /** An example URL of the REST interface. */
  readonly rest: string | undefined;
  /** The kind and location of the database. */
  readonly data: string;
  /** The rate-limit store: memory, or Redis with its address. */
  readonly limits: string;
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly proxies: string | undefined;
  readonly anonymousAccess: AnonymousAccess;
  /** The admin key, if this start created it as the first key of the database. */
  readonly firstAdminKey: FirstAdminKey | undefined;
  /** A write that succeeds on an empty database. */
  readonly firstWrite: ExampleWrite | undefined;
}

const ACCESS = { none: 'nothing', read: 'read', write: 'read and write' };

type Row = readonly [name: string, value: string | number | undefined, note?: string];

/**
 * Prints the report on standard output: as a table in a terminal, else as a log line. The log line is written at any log
 * level. If it cannot be written, a new admin key is printed on standard error, since it is never shown again.
 */
export function announce(report: Report, more: { metricsAt?: string; workers?: number }): void {
  const rows = rowsOf(report, more).filter(([, value]) => value !== undefined);
  const command = firstWriteOf(report);
  const isWritten = process.stdout.isTTY
    ? printText(tableOf(report.product, rows, command))
    : logAnyway(
        { ...Object.fromEntries(rows), 'First write': command },
        `${report.product} serves at ${report.address}`,
      );
  const key = report.firstAdminKey?.generated;
  if (!isWritten && key) complain(`the new admin key, shown only once, is ${key}`);
}

function rowsOf(report: Report, { metricsAt, workers }: { metricsAt?: string; workers?: number }): Row[] {
  const { address, rest, data, limits, proxies, anonymousAccess, firstAdminKey } = report;
  const key = firstAdminKey?.generated;
  return [
    ['Explore', address],
    ['GraphQL', `${address}/graphql`, 'browsers get Sandbox'],
    ['REST', rest],
    ['Docs', `${address}/docs`],
    ['Metrics', metricsAt],
    ['Data', data],
    ['Limits', limits],
    ['Workers', workers],
    ['Proxies', proxies, 'their X-Forwarded-For is trusted'],
    ['Anonymous access', ACCESS[anonymousAccess]],
    ['Admin key', key, 'shown only once: keep it safe'],
    ['Pages with key', key && `${address}/#key=${key}`],
  ];
}

/** A curl command that sends a first write with the first admin key; `undefined` if this start did not create that key. */
function firstWriteOf({ address, firstAdminKey, firstWrite }: Report): string | undefined {
  if (!firstAdminKey || !firstWrite) return undefined;
  const { generated } = firstAdminKey;
  const key = generated ? `'X-API-Key: ${generated}'` : '"X-API-Key: $ADMIN_API_KEY"';
  const body = JSON.stringify(firstWrite.body).replaceAll("'", String.raw`'\''`);
  return `curl -s ${address}${firstWrite.path} -H ${key} -H 'Content-Type: application/json' -d '${body}'`;
}

/** @param command a command that is printed on a separate line, so that a terminal selects the command without its name. */
function tableOf(product: string, rows: readonly Row[], command: string | undefined): string {
  const lines = rows.map(([name, value, note]) => `  ${name.padEnd(16)} ${value}${note ? `   (${note})` : ''}`);
  const more = command ? ['  First write', `  ${command}`] : [];
  return ['', `  ${product}`, ...lines, ...more, '', ''].join('\n');
}
