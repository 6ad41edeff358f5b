import { Checks } from './checks';
import { NAME_FILTER } from './input-rules';

/** A list's filters, "name contains" as a LIKE pattern; wildcards in the caller's text are escaped. */
export function withNamePattern<Filter extends { name?: string | null }>(filter: Filter | null | undefined) {
  const name = filter?.name;
  if (name === undefined || name === null) return { ...filter };
  const checks = new Checks();
  checks.value('filter.name', NAME_FILTER, name);
  checks.done();
  return { ...filter, name: `%${name.replace(/[\\%_]/g, '\\$&')}%` };
}
