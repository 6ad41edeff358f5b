import { isLosslessNumber } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { MAX_INT32 } from '../../domain/input-rules';

/** What REST makes of a GraphQL scalar. */
export interface Scalar {
  readonly schema: OpenAPIV3.SchemaObject;
  readonly example?: unknown;
  /** The error message for an invalid value; without one, it is that of the bounds. */
  readonly mustBe?: string;
  /** The value of a text in the URL; an invalid text becomes a value that the type rejects. */
  readonly fromText?: (text: string) => unknown;
  /** The value of a field of a JSON body, likewise. */
  readonly fromJson?: (raw: unknown) => unknown;
}

/** The largest int64; only a bigint holds it exactly. Writers of JSON and YAML must support bigints. */
const MAX_INT64 = 9223372036854775807n as unknown as number;
const INT = /^-?(0|[1-9][0-9]{0,9})$/;
const INTEGER = /^[1-9][0-9]{0,18}$/;

export const INT32 = { type: 'integer', format: 'int32', minimum: -MAX_INT32 - 1, maximum: MAX_INT32 } as const;

export const SCALARS: Readonly<Record<string, Scalar>> = {
  ID: {
    schema: { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_INT64 },
    example: 1,
    mustBe: 'must be an integer from 1 to 9223372036854775807',
    fromText: (text) => (INTEGER.test(text) ? text : Number.NaN),
    // A JSON integer without fraction or exponent: a string of digits is refused.
    fromJson: (raw) => {
      if (isLosslessNumber(raw)) return INTEGER.test(raw.value) ? BigInt(raw.value) : Number.NaN;
      return typeof raw === 'number' ? raw : Number.NaN;
    },
  },
  Int: { schema: INT32, fromText: (text) => (INT.test(text) ? Number(text) : text) },
  String: { schema: { type: 'string' }, mustBe: 'must be a string' },
  Boolean: {
    schema: { type: 'boolean' },
    example: false,
    mustBe: 'must be true or false',
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  },
  DateTime: {
    schema: { type: 'string', format: 'date-time', maxLength: 64 },
    example: '2026-12-01T09:30:00.000Z',
    mustBe: 'must be a real date-time of RFC 3339 with an offset, such as 2026-11-21T09:30:00+01:00',
  },
};

/** The value of a text from the URL, or of each of several. @param type a leaf type. */
export function readText(type: string, raw: unknown): unknown {
  const convert = SCALARS[type]?.fromText;
  if (!convert) return raw;
  return Array.isArray(raw) ? raw.map(convert) : convert(String(raw));
}

/** The value of a field of a JSON body. @param type a leaf type. */
export function readJson(type: string, raw: unknown): unknown {
  const convert = SCALARS[type]?.fromJson;
  if (convert && raw !== null) return convert(raw);
  return isLosslessNumber(raw) ? Number(raw.value) : raw;
}
