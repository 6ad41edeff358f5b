import { getNullableType, isListType } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { type Element, MAX_FILTER_VALUES, ruleOf } from '../../errors/input-checks';
import { SCALARS, scalarNameOf } from '../scalar-formats';

export type Schema = OpenAPIV3.SchemaObject;
export type Ref = OpenAPIV3.ReferenceObject;

export const REQUEST_ID: Schema = { type: 'string', pattern: '^[\\w.:-]{1,128}$', maxLength: 128 };
export const REQUEST_EXAMPLE = '5f0c7f0e-6f1c-4f7e-9a55-0d6d2b8c1a11';
/**
 * Maximum length of a text in an error, in characters. No message is longer than a request body, which has at most 100 KiB.
 */
export const MAX_TEXT = 131_072;
export const ref = (name: string): Ref => ({ $ref: `#/components/schemas/${name}` });
export const arrayOf = (name: string, maxItems = 100): Schema => ({ type: 'array', items: ref(name), maxItems });

/** The schema of a value: a scalar with the bounds of its rule, or a reference to the separate schema of any other type. */
export function schemaOf(element: Element): Schema | Ref {
  const { nullable, trimmed, form, ...bounds } = ruleOf(element);
  const name = scalarNameOf(element);
  const scalar = SCALARS[name]?.schema;
  // A text that is trimmed and must not be empty needs a character that is not white space.
  const pattern = trimmed && bounds.minLength && { pattern: '\\S' };
  const schema = scalar ? { ...scalar, ...bounds, ...pattern } : ref(name);
  if (!isListType(getNullableType(element.type))) return schema;
  return { type: 'array', items: schema, maxItems: MAX_FILTER_VALUES };
}
