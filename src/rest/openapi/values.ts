import type { OpenAPIV3 } from 'openapi-types';
import { DEFAULT_PAGE, MAX_PAGE } from '../../domain/connection';

export type Schema = OpenAPIV3.SchemaObject;

/** The largest int64; only a bigint holds it exactly. Writers of JSON and YAML must support bigints. */
const MAX_INT64 = 9223372036854775807n as unknown as number;
const MAX_INT32 = 2147483647;

export const INT64: Schema = { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_INT64 };
export const INT32: Schema = {
  type: 'integer',
  format: 'int32',
  minimum: -MAX_INT32 - 1,
  maximum: MAX_INT32,
};
export const PAGE_SIZE: Schema = {
  type: 'integer',
  format: 'int32',
  minimum: 1,
  maximum: MAX_PAGE,
  default: DEFAULT_PAGE,
};
export const REQUEST_ID: Schema = { type: 'string', pattern: '^[\\w.:-]{1,128}$', maxLength: 128 };
/** The longest body, in characters: no text about a request is longer. */
export const MAX_TEXT = 131_072;
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const arrayOf = (name: string, maxItems = 100): Schema => ({
  type: 'array',
  items: ref(name),
  maxItems,
});
export const MOMENT: Schema = { type: 'string', format: 'date-time', maxLength: 64 };
