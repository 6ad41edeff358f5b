import { isLosslessNumber } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { integerRule, MAX_INT32, MAX_INT64 } from '../errors/inputs';

/** The representation of a GraphQL scalar in REST. */
export interface Scalar {
  readonly schema: OpenAPIV3.SchemaObject;
  readonly example?: unknown;
  /** The error message for an invalid value. By default it names the bounds. */
  readonly mustBe?: string;
  /** Converts a text of the URL; an invalid text becomes a value that the type rejects. */
  readonly fromText?: (text: string) => unknown;
  /** Converts a field of a JSON body in the same way. */
  readonly fromJson?: (raw: unknown) => unknown;
}

/** Only a bigint holds it exactly. Writers of JSON and YAML must support bigints. */
const MAXIMUM = MAX_INT64 as unknown as number;
const INT = /^-?(0|[1-9][0-9]{0,9})$/;
const INTEGER = /^[1-9][0-9]{0,18}$/;

export const INT32 = { type: 'integer', format: 'int32', minimum: -MAX_INT32 - 1, maximum: MAX_INT32 } as const;

export const SCALARS: Readonly<Record<string, Scalar>> = {
  ID: {
    schema: { type: 'integer', format: 'int64', minimum: 1, maximum: MAXIMUM },
    example: 1,
    mustBe: integerRule(1, MAX_INT64),
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

/** Converts a raw value to the value of a variable. An invalid value becomes a value that does not fit the type. */
export type Read = (raw: unknown) => unknown;

/** The conversion of a text of the URL, or of each of several. @param type a leaf type. */
export function textReader(type: string): Read {
  const convert = SCALARS[type]?.fromText;
  if (!convert) return (raw) => raw;
  return (raw) => (Array.isArray(raw) ? raw.map(convert) : convert(String(raw)));
}

/** The conversion of a field of a JSON body. @param type a leaf type. */
export function jsonReader(type: string): Read {
  const convert = SCALARS[type]?.fromJson;
  if (convert) return (raw) => (raw === null ? null : convert(raw));
  return (raw) => (isLosslessNumber(raw) ? Number(raw.value) : raw);
}
