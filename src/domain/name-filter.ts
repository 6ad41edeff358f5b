import { Checks } from './checks';
import { NAME_FILTER } from './input-rules';

/** A list's filters. @throws DomainError `BAD_USER_INPUT` for a name that cannot be searched for. */
export function checkedFilters<Filter extends { name?: string | null }>(filter: Filter | null | undefined) {
  const checks = new Checks();
  checks.value('filter.name', NAME_FILTER, filter?.name);
  checks.done();
  return { ...filter };
}
