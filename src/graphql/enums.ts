import { registerEnumType } from 'type-graphql';

type Descriptions<Name extends string> = Readonly<Record<Name, string>>;

/** Declares an enum of the schema. @param values the meaning of each value. */
export function enumOf<Name extends string>(name: string, description: string, values: Descriptions<Name>) {
  const names = Object.keys(values).map((each) => [each, each]);
  return describedEnum(Object.fromEntries(names) as { readonly [value in Name]: value }, name, description, values);
}

/** Declares an existing enum, such as an enum of Prisma's client. @returns the enum. */
export function describedEnum<Values extends object>(
  enumeration: Values,
  name: string,
  description: string,
  values: Descriptions<keyof Values & string>,
): Values {
  const described = Object.entries<string>(values).map(([value, meaning]) => [value, { description: meaning }]);
  registerEnumType(enumeration, { name, description, valuesConfig: Object.fromEntries(described) });
  return enumeration;
}

export const SortDirection = enumOf('SortDirection', 'A sort direction.', {
  ASC: 'Smallest first.',
  DESC: 'Largest first.',
});

export const CountRelation = enumOf('CountRelation', 'How a count relates to the real number of items.', {
  EQUAL: 'The count is exact.',
  AT_LEAST: 'There are more items than the count.',
});
