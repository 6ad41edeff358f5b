import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
} from 'graphql';
import type { Element } from '../../errors/inputs';
import type { SelectedField } from '../../graphql/cost';
import { keywordsOfField, keywordsOfType } from '../../graphql/json-schema';
import { SCALARS } from '../scalar-formats';

/** The example of a field: its own, or one of its type; `undefined` if there is none. */
export function exampleOf(field: Element, members: readonly SelectedField[] = []): unknown {
  const { example } = keywordsOfField(field);
  if (example !== undefined) return example;
  const type = getNamedType(field.type);
  const one = members.length ? objectExample(type as GraphQLObjectType, members) : leafExample(type);
  return isListType(getNullableType(field.type)) ? [one] : one;
}

function leafExample(type: GraphQLNamedType): unknown {
  return isEnumType(type) ? type.getValues()[0]?.name : SCALARS[type.name]?.example;
}

/** The example of an object: its type's, or those of the fields. */
export function objectExample(
  type: GraphQLObjectType,
  members: readonly SelectedField[],
): Readonly<Record<string, unknown>> {
  const examples = members.map(({ key, field, selection }) => [key, exampleOf(field, selection?.fields)]);
  return keywordsOfType(type).example ?? Object.fromEntries(examples);
}
