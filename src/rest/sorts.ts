import { type GraphQLInputObjectType, getNamedType, isEnumType } from 'graphql';

/** An order of a list as GraphQL takes it. */
export interface Sort {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** The orders of a list under their REST names: `id`, `-id`, `shipDate`, `-shipDate`. */
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
