/** Which rows a session sees of a table whose rows have owners (`Table.owner`). */
export type Visibility =
  | { readonly kind: 'all' }
  /** Only rows without an owner. */
  | { readonly kind: 'unowned' }
  /** Only rows of this owner. */
  | { readonly kind: 'owned'; readonly by: string };

export const ALL_ROWS: Visibility = { kind: 'all' };
export const UNOWNED_ROWS: Visibility = { kind: 'unowned' };
