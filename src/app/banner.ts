import type { AnonymousAccess } from '../access/caller';
import { logAnyway, printText } from '../http/logger';
import { complain } from '../http/standard-streams';

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
  /** The admin key, if this start created one. */
  readonly newAdminKey: string | undefined;
}

const ACCESS = { none: 'nothing', read: 'read', write: 'read and write' };

type Row = readonly [name: string, value: string | number | undefined, note?: string];

/**
 * Prints the report on standard output: as a table in a terminal, else as a log line. The log line is written at any log
 * level. If it cannot be written, a new admin key is printed on standard error, since it is never shown again.
 */
export function announce(report: Report, more: { metricsAt?: string; workers?: number }): void {
  const rows = rowsOf(report, more).filter(([, value]) => value !== undefined);
  const isWritten = process.stdout.isTTY
    ? printText(tableOf(report.product, rows))
    : logAnyway(Object.fromEntries(rows), `${report.product} serves at ${report.address}`);
  if (!isWritten && report.newAdminKey) complain(`the new admin key, shown only once, is ${report.newAdminKey}`);
}

function rowsOf(report: Report, { metricsAt, workers }: { metricsAt?: string; workers?: number }): Row[] {
  const { address, rest, data, limits, proxies, anonymousAccess, newAdminKey } = report;
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
    ['Admin key', newAdminKey, 'shown only once: keep it safe'],
  ];
}

function tableOf(product: string, rows: readonly Row[]): string {
  const lines = rows.map(([name, value, note]) => `  ${name.padEnd(16)} ${value}${note ? `   (${note})` : ''}`);
  return ['', `  ${product}`, ...lines, '', ''].join('\n');
}
