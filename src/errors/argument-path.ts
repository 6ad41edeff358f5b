import { type ASTNode, Kind } from 'graphql';

/**
 * Where a value of a document is, from its argument: `filter.ids.1`; empty outside of arguments. Takes what a visitor is
 * given of the value.
 */
export function argumentPath(
  key: string | number | undefined,
  parents: readonly (ASTNode | readonly ASTNode[])[],
): string {
  const path: (string | number)[] = [];
  for (const each of parents)
    if ('kind' in each && (each.kind === Kind.ARGUMENT || each.kind === Kind.OBJECT_FIELD)) path.push(each.name.value);
  if (typeof key === 'number') path.push(key);
  return path.join('.');
}
