import type { AnonymousAccess } from '../access/caller';

/** What a serving process reports about itself. */
export interface Report {
  /** `http://127.0.0.1:4000` */
  readonly address: string;
  /** The database and its location. */
  readonly data: string;
  readonly anonymousAccess: AnonymousAccess;
  /** The admin key created by this first start. */
  readonly newAdminKey: string | undefined;
}

const ACCESS = { none: 'nothing', read: 'read', write: 'read and write' };

export function banner(report: Report, { metricsAt, workers }: { metricsAt?: string; workers?: number }): string {
  const { address, data, anonymousAccess, newAdminKey } = report;
  const rows = [
    ['Explore', address],
    ['GraphQL', `${address}/graphql   (a browser gets Sandbox)`],
    ['REST', `${address}/pets`],
    ['Docs', `${address}/docs`],
    ['Metrics', metricsAt],
    ['Data', data],
    ['Workers', workers],
    ['Access', `without a key: ${ACCESS[anonymousAccess]}`],
    ['Admin key', newAdminKey && `${newAdminKey}   (shown only once: keep it safe)`],
  ] as const;
  const lines = rows.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(10)} ${value}`]));
  return ['', '  Petstore Gateway 1.0.0', ...lines, '', ''].join('\n');
}
