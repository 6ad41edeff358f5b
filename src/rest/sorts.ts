import { type GraphQLInputObjectType, getNamedType, isEnumType } from 'graphql';

/** A sort order in GraphQL's form. */
export interface Sort {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** The sort orders of a list by REST name: `id`, `-id`, `shipDate`, `-shipDate`. */
export function sortsOf(orderBy: GraphQLInputObjectType): ReadonlyMap<string, Sort> {
  const field = orderBy.getFields().field;
  const type = field && getNamedType(field.type);
  if (!isEnumType(type)) throw new Error(`${orderBy.name} has no field to order by`);
  return new Map(
    type.getValues().flatMap(({ name }): [string, Sort][] => [
      [camelCase(name), { field: name, direction: 'ASC' }],
      [`-${camelCase(name)}`, { field: name, direction: 'DESC' }],
    ]),
  );
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
