import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { GraphQLDateTime } from 'graphql-scalars';

const MAX_ID = 9223372036854775807n;
const DECIMAL = /^[1-9][0-9]{0,18}$/;

/**
 * int64 identifiers under GraphQL's own name `ID`: `1` and `"1"` go in, a string comes out, since JSON numbers are not
 * exact beyond 2^53. Inside, an identifier is a `bigint`.
 */
export const Id = new GraphQLScalarType<bigint, string>({
  name: 'ID',
  description: 'An identifier: an integer from 1 to 9223372036854775807, answered as a string.',
  serialize: (value) => String(value),
  parseValue: parseId,
  parseLiteral: (node) =>
    node.kind === Kind.STRING || node.kind === Kind.INT
      ? parseId(node.value)
      : refuse('ID must be an integer or a string of digits'),
});

/** @throws GraphQLError `BAD_USER_INPUT`. */
export function parseId(value: unknown): bigint {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  if (typeof text === 'string' && DECIMAL.test(text)) {
    const id = BigInt(text);
    if (id <= MAX_ID) return id;
  }
  return refuse('ID must be an integer from 1 to 9223372036854775807');
}

/** RFC 3339 date-times with an offset, of the years 1 to 9999; answered in UTC with milliseconds. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description:
    'A date-time of RFC 3339 with an offset, such as `2026-11-21T09:30:00+01:00`. Answered in UTC with milliseconds.',
  serialize: (value) => (value as Date).toISOString(),
  parseValue: (value) =>
    value instanceof Date ? value : bounded(parseDate(() => GraphQLDateTime.parseValue(value))),
  parseLiteral: (node) => bounded(parseDate(() => GraphQLDateTime.parseLiteral(node, {}))),
});

function parseDate(parse: () => unknown): Date {
  try {
    return parse() as Date;
  } catch {
    return refuse(
      'DateTime must be a real date-time of RFC 3339 with an offset, such as 2026-11-21T09:30:00Z',
    );
  }
}

function bounded(date: Date): Date {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : refuse('DateTime must be in the years 1 to 9999');
}

function refuse(message: string): never {
  throw new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
}
