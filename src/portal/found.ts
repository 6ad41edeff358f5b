/** One place that the search finds. The browser indexes all of them when the search is first opened. */
export interface Found {
  /** What kind of place it is: `Guide`, `Setting`, `REST`, `GraphQL` or `Error`. */
  readonly kind: string;
  readonly title: string;
  /** What it is part of: a page, a tag, a type. */
  readonly within: string;
  readonly text: string;
  readonly href: string;
  /** Other words for it, which are not shown. */
  readonly also?: string;
  /** Set if others are to be found before it. */
  readonly last?: true;
}

/** A text that names things in, such as the fields of a type. */
export function listed(what: string, names: readonly string[]): string {
  return names.length ? `${what}: ${names.join(', ')}.` : '';
}
