import { type GraphQLEnumType, type GraphQLNamedType, getNamedType, isEnumType } from 'graphql';
import { isLosslessNumber } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { type Element, integerRule, MAX_INT32, MAX_INT64 } from '../errors/input-checks';

/** How REST represents a GraphQL scalar. */
interface Scalar {
  readonly schema: OpenAPIV3.SchemaObject;
  readonly example?: unknown;
  /** The error message for an invalid value. The default names the minimum and maximum. */
  readonly mustBe?: string;
  /** Converts a text from the URL. An invalid text becomes a value that the GraphQL type rejects. */
  readonly fromText?: (text: string) => unknown;
  /** Converts a field of a JSON body. An invalid field becomes a value that the GraphQL type rejects. */
  readonly fromJson?: (raw: unknown) => unknown;
}

/**
 * The largest int64. It is a bigint, since a number cannot hold the value exactly. The OpenAPI document must therefore be
 * serialized with support for bigints.
 */
const MAXIMUM = MAX_INT64 as unknown as number;
const INTEGER = /^-?(0|[1-9][0-9]*)$/;

export const INT32 = { type: 'integer', format: 'int32', minimum: -MAX_INT32 - 1, maximum: MAX_INT32 } as const;

export const SCALARS: Readonly<Record<string, Scalar>> = {
  ID: {
    schema: { type: 'integer', format: 'int64', minimum: 1, maximum: MAXIMUM },
    example: 1,
    mustBe: integerRule(1, MAX_INT64),
    fromText: (text) => (INTEGER.test(text) ? text : Number.NaN),
    // Accepts only a JSON number without a fraction or an exponent. A string of digits is invalid.
    fromJson: (raw) => {
      if (isLosslessNumber(raw)) return INTEGER.test(raw.value) ? raw.value : Number.NaN;
      return typeof raw === 'number' ? raw : Number.NaN;
    },
  },
  Int: { schema: INT32, example: 1, fromText: (text) => (INTEGER.test(text) ? Number(text) : text) },
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

/**
 * The name of the scalar that represents a field in REST: the extension `restScalar` if the field has it, otherwise the field's
 * type.
 */
export function scalarNameOf({ type, extensions }: Pick<Element, 'type' | 'extensions'>): string {
  return (extensions.restScalar as string | undefined) ?? getNamedType(type).name;
}

/** The name of an enum value in REST. */
export function restNameOf({ extensions }: GraphQLEnumType, name: string): string {
  return extensions.isLowerCaseInRest ? name.toLowerCase() : name;
}

/** The names of an enum's values in REST. */
export function restNamesOf(type: GraphQLEnumType): string[] {
  return type.getValues().map(({ name }) => restNameOf(type, name));
}

/**
 * Returns a hint on the JSON form that a value must have, for the end of the error message; empty if there is no hint. Some
 * client generators write int64 as a string.
 * @param type the name of a scalar or enum.
 */
export function jsonHint(type: string, raw: unknown): string {
  const isNumeric = type === 'ID' || type === 'Int';
  if (typeof raw === 'string')
    return isNumeric ? ', as a JSON number, not a string' : type === 'Boolean' ? ', not a string' : '';
  return isNumeric && isLosslessNumber(raw) && /[.eE]/.test(raw.value) ? ', without a fraction or an exponent' : '';
}

/** Like {@link jsonHint}, for a repeatable query parameter. */
export function listHint(raw: unknown): string {
  return [raw].flat().some((text) => String(text).includes(',')) ? '; repeat the parameter for several values' : '';
}

/** Converts a raw value to the value of a variable. An invalid value becomes a value that the GraphQL type rejects. */
export type Read = (raw: unknown) => unknown;

/** Creates the conversion for a text from the URL, or for an array of texts. */
export function textReader(type: GraphQLNamedType): Read {
  const convert = isEnumType(type) ? enumReader(type) : SCALARS[type.name]?.fromText;
  if (!convert) return (raw) => raw;
  return (raw) => (Array.isArray(raw) ? raw.map(convert) : convert(String(raw)));
}

/** Converts the name of an enum value in REST to its name in GraphQL. Other texts are no names in GraphQL either. */
function enumReader(type: GraphQLEnumType): ((text: string) => unknown) | undefined {
  if (!type.extensions.isLowerCaseInRest) return undefined;
  const names = new Map(type.getValues().map(({ name }) => [restNameOf(type, name), name]));
  return (text) => names.get(text) ?? '';
}

/** Creates the conversion for a field of a JSON body. */
export function jsonReader(type: GraphQLNamedType): Read {
  const convert = SCALARS[type.name]?.fromJson;
  if (convert) return (raw) => (raw === null ? null : convert(raw));
  return (raw) => (isLosslessNumber(raw) ? Number(raw.value) : raw);
}
