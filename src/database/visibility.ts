import { columnOf, type Table } from './reading/table';

/** Which rows a session sees of a table whose rows have owners (`Table.owner`). */
export type Visibility =
  | { readonly kind: 'all' }
  /** Only rows without an owner. */
  | { readonly kind: 'unowned' }
  /** Only rows of this owner. */
  | { readonly kind: 'owned'; readonly by: string };

export const ALL_ROWS: Visibility = { kind: 'all' };
export const UNOWNED_ROWS: Visibility = { kind: 'unowned' };

/**
 * A placeholder for the parameter with the owner. Cached SQL contains the placeholder, since the parameter has no fixed number.
 */
export const OWNER = '$owner';

/** The SQL condition of the visible rows of a table; `undefined` if all rows are visible. The same rule as {@link isVisible}. */
export function visibilityCondition(
  table: Pick<Table<never>, 'name' | 'owner' | 'columns'>,
  kind: Visibility['kind'],
): string | undefined {
  const { owner } = table;
  if (!owner || kind === 'all') return undefined;
  return `${columnOf(table, owner.column)} ${kind === 'owned' ? `= ${OWNER}::text` : 'is null'}`;
}

/** Whether a row that has been read is visible. The same rule as {@link visibilityCondition}. */
export function isVisible<Row>({ owner }: Table<Row>, row: Row, visibility: Visibility): boolean {
  if (!owner || visibility.kind === 'all') return true;
  const value = row[owner.column as keyof Row];
  return visibility.kind === 'owned' ? value === visibility.by : value === null;
}
