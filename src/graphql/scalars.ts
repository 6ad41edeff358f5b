import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLError, GraphQLScalarType, type GraphQLSchema, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTime } from 'graphql-scalars';
import { Arg } from 'type-graphql';
import { integerRule, MAX_INT64 } from '../errors/inputs';

export const INT64_RULE = integerRule(1, MAX_INT64);
const INT64 = `ID ${INT64_RULE}`;
const DECIMAL = /^[1-9][0-9]{0,18}$/;

/**
 * An identifier that is not an integer. Only arguments that are checked by {@link acceptOtherIds} accept such an identifier.
 */
export abstract class OtherId {}

/** An identifier in an argument. */
export type AnyId = bigint | OtherId;

/** A form of identifiers other than integers, such as the ids of API keys. */
export interface IdForm {
  /** A phrase for the scalar's description: `API keys have key ids instead`. */
  readonly description: string;
  /** A phrase for the error message: `for an API key 12 lower-case letters or digits`. */
  readonly rule: string;
  /** Returns `undefined` if the text does not have this form. */
  parse(text: string): OtherId | undefined;
}

const INTEGER_IDS = 'An identifier, returned as a string: an integer from 1 to 9223372036854775807.';

/**
 * The scalar of identifiers, which replaces GraphQL's built-in `ID`. It accepts `1` and `"1"`, and returns a string, since
 * JSON numbers are not exact beyond 2^53. Internally, an integer is a `bigint`; other identifiers are {@link OtherId}s.
 * Each schema has its own `ID`, which {@link withIdForms} puts in place of this scalar.
 */
export const Id = idScalar('IntegerId', []);

/** @param forms the accepted forms other than integers. */
function idScalar(name: string, forms: readonly IdForm[]): GraphQLScalarType<AnyId, string> {
  const descriptions = forms.map(({ description }) => description).join(', and ');
  const parseId = (value: unknown): AnyId => {
    // A JSON number beyond 2^53 may have been rounded by the parser.
    const isExact = typeof value === 'bigint' || Number.isSafeInteger(value);
    const text = isExact ? String(value) : value;
    if (typeof text !== 'string') return refuse(INT64);
    if (DECIMAL.test(text)) {
      const id = BigInt(text);
      if (id <= MAX_INT64) return id;
    }
    for (const form of forms) {
      const id = form.parse(text);
      if (id) return id;
    }
    return refuse([INT64, ...forms.map(({ rule }) => rule)].join(', or '));
  };
  return new GraphQLScalarType<AnyId, string>({
    name,
    description: descriptions ? `${INTEGER_IDS} ${descriptions}.` : INTEGER_IDS,
    serialize: (value) => String(value),
    parseValue: parseId,
    parseLiteral: literal((node) =>
      node.kind === Kind.STRING || node.kind === Kind.INT ? parseId(node.value) : refuse(INT64),
    ),
  });
}

/** Returns a schema with the scalar `ID`, which also accepts these forms of identifiers, in place of {@link Id}. */
export function withIdForms(schema: GraphQLSchema, forms: readonly IdForm[]): GraphQLSchema {
  // `Id` has another name, since `mapSchema` maps no types that are named like a built-in scalar.
  const scalar = idScalar(
    'ID',
    forms.toSorted((a, b) => (a.rule < b.rule ? -1 : 1)),
  );
  return mapSchema(schema, { [MapperKind.SCALAR_TYPE]: (type) => (type === Id ? scalar : undefined) });
}

/** An argument that is the id of an object. @param what the kind of object: `pet`. */
export const IdOf = (what: string, name = 'id') => Arg(name, () => Id, { description: `The ${what}'s id.` });

/** The default check of arguments: rejects identifiers that are not integers, at any depth. */
export function refuseOtherIds(value: unknown): void {
  if (value instanceof OtherId) refuse(INT64);
  if (typeof value === 'object' && value !== null && !(value instanceof Date))
    Object.values(value).forEach(refuseOtherIds);
}

/** Replaces {@link refuseOtherIds} as the check of arguments that accept all forms of identifiers. */
export function acceptOtherIds(): void {}

/** RFC 3339 date-times with an offset, in the years 1 to 9999; returned in UTC with milliseconds. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description:
    'An RFC 3339 date-time with an offset, such as `2026-11-21T09:30:00+01:00`. Returned in UTC with milliseconds.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  serialize: (value) => (value as Date).toISOString(),
  parseValue: (value) => (value instanceof Date ? value : bounded(parseDate(() => GraphQLDateTime.parseValue(value)))),
  parseLiteral: literal((node) => bounded(parseDate(() => GraphQLDateTime.parseLiteral(node, {})))),
});

function parseDate(parse: () => unknown): Date {
  try {
    return parse() as Date;
  } catch {
    return refuse('DateTime must be a real date-time of RFC 3339 with an offset, such as 2026-11-21T09:30:00Z');
  }
}

function bounded(date: Date): Date {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : refuse('DateTime must be in the years 1 to 9999');
}

/** A `parseLiteral` whose errors carry the location of the rejected literal. */
function literal<T>(read: (node: ValueNode) => T): (node: ValueNode) => T {
  return (node) => {
    try {
      return read(node);
    } catch (error) {
      const { message, extensions } = error as GraphQLError;
      throw new GraphQLError(message, { nodes: node, extensions });
    }
  };
}

function refuse(message: string): never {
  throw new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
}
