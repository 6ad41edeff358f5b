import type { AnonymousAccess } from '../access/caller';

/** What a process that serves can say of itself. */
export interface Report {
  /** `http://127.0.0.1:4000` */
  readonly address: string;
  /** The database and where it is. */
  readonly data: string;
  readonly anonymousAccess: AnonymousAccess;
  /** The admin key that this first start has made. */
  readonly newAdminKey: string | undefined;
}

const ACCESS = { none: 'nothing', read: 'read', write: 'read and write' };

/** What the start shows, once. */
export function banner(
  report: Report,
  { metricsAt, workers }: { metricsAt?: string; workers?: number },
): string {
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
    ['Admin key', newAdminKey && `${newAdminKey}   (shown this once: keep it safe)`],
  ] as const;
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(10)} ${value}`],
  );
  return ['', '  Petstore Gateway 1.0.0', ...lines, '', ''].join('\n');
}
