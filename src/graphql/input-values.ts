import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/** A value that does not fit its type. graphql-js reports what is wrong with it. */
export class Misfit extends Error {}

/** Coerces a JSON value to a type. @throws Misfit, or whatever a scalar throws. */
type Coerce = (value: unknown) => unknown;

interface Member {
  readonly name: string;
  readonly coerce: Coerce;
  readonly isRequired: boolean;
  readonly defaultValue: unknown;
}

/** Coerces values as graphql-js's `coerceInputValue` does (GraphQL, section 3), but inspects the type only once. */
export function coercerOf(type: GraphQLInputType): Coerce {
  if (isNonNullType(type)) {
    const coerce = coercerOf(type.ofType);
    return (value) => coerce(present(value ?? undefined));
  }
  if (isListType(type)) {
    const coerce = coercerOf(type.ofType);
    return nullable((value) => (Array.isArray(value) ? value.map((item) => coerce(item)) : [coerce(value)]));
  }
  return nullable(isInputObjectType(type) ? objectCoercer(type) : leafCoercer(type));
}

/** @throws Misfit if the value is missing. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Misfit();
  return value;
}

function nullable(coerce: Coerce): Coerce {
  return (value) => (value === null || value === undefined ? null : coerce(value));
}

function leafCoercer(type: GraphQLLeafType): Coerce {
  // Otherwise an enum would search for names similar to a wrong one.
  const hidesSuggestions = true;
  return (value) => present(type.parseValue(value, hidesSuggestions));
}

/** Types may be recursive: each type's coercer is created once, and those of its members on first use. */
const objectCoercers = new WeakMap<GraphQLInputObjectType, Coerce>();

function objectCoercer(type: GraphQLInputObjectType): Coerce {
  let coerce = objectCoercers.get(type);
  if (!coerce) {
    let members: ReadonlyMap<string, Member> | undefined;
    coerce = (value) => {
      members ??= membersOf(type);
      const coerced = coerceMembers(value, members);
      return type.isOneOf ? onlyOne(coerced) : coerced;
    };
    objectCoercers.set(type, coerce);
  }
  return coerce;
}

function membersOf(type: GraphQLInputObjectType): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  for (const { name, type: memberType, defaultValue } of Object.values(type.getFields()))
    members.set(name, {
      name,
      coerce: coercerOf(memberType),
      isRequired: isNonNullType(memberType),
      defaultValue,
    });
  return members;
}

function coerceMembers(value: unknown, members: ReadonlyMap<string, Member>): Record<string, unknown> {
  if (typeof value !== 'object' || Array.isArray(value)) throw new Misfit();
  const given = value as Record<string, unknown>;
  for (const name of Object.keys(given)) if (!members.has(name)) throw new Misfit();
  const coerced: Record<string, unknown> = {};
  for (const { name, coerce, isRequired, defaultValue } of members.values()) {
    const raw = given[name];
    if (raw !== undefined) coerced[name] = coerce(raw);
    else if (defaultValue !== undefined) coerced[name] = defaultValue;
    else if (isRequired) throw new Misfit();
  }
  return coerced;
}

function onlyOne(coerced: Record<string, unknown>): Record<string, unknown> {
  const values = Object.values(coerced);
  if (values.length !== 1 || values[0] === null) throw new Misfit();
  return coerced;
}
