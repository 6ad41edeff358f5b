import { Checks, MAX_NAME } from './checks';

/** The LIKE pattern of a "name contains" filter; wildcards in the caller's text are escaped. */
export function nameFilter(name: string | null | undefined): string | undefined {
  if (name === undefined || name === null) return undefined;
  const checks = new Checks();
  checks.text('filter.name', name, MAX_NAME);
  checks.done();
  return `%${name.replace(/[\\%_]/g, '\\$&')}%`;
}
