import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
} from 'graphql';
import type { Element } from '../../errors/inputs';
import { keywordsOfField, keywordsOfType } from '../../graphql/json-schema';
import { valuesOf } from '../payload';
import { SCALARS } from '../scalar-formats';

export type Fields = readonly GraphQLField<unknown, unknown>[];

/** The example of a field: its own, or one of its type; `undefined` if there is none. */
export function exampleOf(field: Element): unknown {
  const { example } = keywordsOfField(field);
  if (example !== undefined) return example;
  const one = valueExample(getNamedType(field.type));
  return isListType(getNullableType(field.type)) ? [one] : one;
}

function valueExample(type: GraphQLNamedType): unknown {
  if (isEnumType(type)) return type.getValues()[0]?.name;
  return isObjectType(type) ? objectExample(type, valuesOf(type)) : SCALARS[type.name]?.example;
}

/** The example of an object: its type's, or those of the fields. */
export function objectExample(type: GraphQLObjectType, fields: Fields): Readonly<Record<string, unknown>> {
  return keywordsOfType(type).example ?? Object.fromEntries(fields.map((field) => [field.name, exampleOf(field)]));
}
