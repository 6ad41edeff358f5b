import type { FieldNode, ValueNode } from 'graphql';
import type { ErrorDetail } from '../domain/domain-error';

/** REST names by the GraphQL argument paths that errors use: `after` → `cursor`, `input.name` → `name`. */
export type ErrorPaths = ReadonlyMap<string, string>;

/** Derived from the root field's arguments: each is named after the variable passed to it. */
export function errorPathsOf({ arguments: args = [] }: FieldNode): ErrorPaths {
  return new Map(args.flatMap(({ name, value }) => pathsTo(name.value, value)));
}

function pathsTo(path: string, value: ValueNode): [string, string][] {
  if (value.kind === 'Variable') return [[path, value.name.value]];
  if (value.kind !== 'ObjectValue') return [];
  return value.fields.flatMap((field) => pathsTo(`${path}.${field.name.value}`, field.value));
}

export function renamePaths(details: readonly ErrorDetail[], paths: ErrorPaths): ErrorDetail[] {
  return details.map(({ path, message }) => ({ path: paths.get(path) ?? path, message }));
}
