import { Checks } from './checks';
import { NAME_FILTER } from './input-rules';

/** The LIKE pattern of a "name contains" filter; wildcards in the caller's text are escaped. */
export function nameFilter(name: string | null | undefined): string | undefined {
  if (name === undefined || name === null) return undefined;
  const checks = new Checks();
  checks.value('filter.name', NAME_FILTER, name);
  checks.done();
  return `%${name.replace(/[\\%_]/g, '\\$&')}%`;
}
