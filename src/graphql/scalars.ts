import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type ASTNode,
  GraphQLError,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  type IntValueNode,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type StringValueNode,
  type ValidationRule,
  type ValueNode,
} from 'graphql';
import { GraphQLDateTime } from 'graphql-scalars';
import { Arg } from 'type-graphql';
import type { Fault } from '../errors/errors';
import { type Element, holderOf, integerRule, MAX_INT64, notOfForm } from '../errors/input-checks';

const INT64 = integerRule(1, MAX_INT64);
export const NOT_AN_ID: Fault = { message: INT64, rule: 'TYPE' };
const DECIMAL = /^[1-9][0-9]{0,18}$/;
const INTEGER = /^(0|-?[1-9][0-9]*)$/;

/** An identifier that is not an integer from 1 to 2^63 - 1. Only arguments of its {@link IdForm} accept it. */
export abstract class OtherId {
  abstract toString(): string;
}

/** An identifier in an argument. */
export type AnyId = bigint | OtherId;

/** A form of identifiers other than integers, such as the ids of API keys. */
export interface IdForm {
  /** Stands for `ID` in the declaration of an argument or input field that accepts only this form. */
  readonly type: GraphQLScalarType;
  /** A phrase for the scalar's description: `API keys have key ids instead`. */
  readonly description: string;
  /** A phrase for the error message, after "must be": `12 lower-case letters or digits`. */
  readonly rule: string;
  /** Returns `undefined` if the text does not have this form. */
  parse(text: string): OtherId | undefined;
  /**
   * Whether an identifier has this form. A text of this form that is an integer, such as a key id of digits only, arrives as a
   * `bigint`.
   */
  fits(id: AnyId): boolean;
}

/** A text that has none of the forms. */
class Malformed extends OtherId {
  constructor(private readonly text: string) {
    super();
  }

  override toString(): string {
    return this.text;
  }
}

const INTEGER_IDS = 'An identifier, returned as a string: an integer from 1 to 9223372036854775807.';

/**
 * The scalar of identifiers, which replaces GraphQL's built-in `ID`. It accepts `1` and `"1"`, and returns a string, since JSON
 * numbers are not exact beyond 2^53. Internally, an integer is a `bigint`; other texts are {@link OtherId}s, which {@link
 * idFault} rejects where the argument or input field does not accept them. Each schema has its own `ID`; {@link withIdForms}
 * replaces this scalar with it.
 */
export const Id = idScalar('IntegerId', []);

/** Creates the scalar that stands for `ID` where only identifiers of a form are accepted. */
export function idOfForm(name: string): GraphQLScalarType {
  return new GraphQLScalarType({ name });
}

/** @param forms the accepted forms other than integers. */
function idScalar(name: string, forms: readonly IdForm[]): GraphQLScalarType<AnyId, string> {
  const descriptions = forms.map(({ description }) => description).join(', and ');
  const parseId = (value: unknown): AnyId => {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) return parseNumber(value);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return reject(INT64);
    const text = String(value);
    if (DECIMAL.test(text)) {
      const id = BigInt(text);
      if (id <= MAX_INT64) return id;
    }
    for (const form of forms) {
      const id = form.parse(text);
      if (id) return id;
    }
    return new Malformed(text);
  };
  return new GraphQLScalarType<AnyId, string>({
    name,
    description: descriptions ? `${INTEGER_IDS} ${descriptions}.` : INTEGER_IDS,
    extensions: { faultAt: idFault },
    serialize: (value) => String(value),
    parseValue: parseId,
    parseLiteral: literal((node) =>
      node.kind === Kind.STRING || node.kind === Kind.INT ? parseId(node.value) : reject(INT64),
    ),
  });
}

/** A JSON number beyond 2^53 may have been rounded by the parser. */
function parseNumber(value: number): Malformed {
  if (!Number.isInteger(value)) return reject(INT64);
  return Math.abs(value) < Number(MAX_INT64)
    ? reject(`${INT64}; send integers above 2^53 as strings`)
    : new Malformed(String(BigInt(value)));
}

/**
 * What is wrong with an identifier.
 * @param element the argument or input field that takes it. By default only integers are accepted.
 */
export function idFault(id: unknown, element?: Element): Fault | undefined {
  const form = element?.extensions.idForm as IdForm | undefined;
  if (form) return form.fits(id as AnyId) ? undefined : notOfForm(form.rule);
  if (!(id instanceof OtherId)) return undefined;
  return INTEGER.test(String(id)) ? { message: INT64, rule: 'OUT_OF_RANGE', params: { min: 1 } } : NOT_AN_ID;
}

/** Rejects literals of identifiers in places that do not accept them. */
export const idFormsRule: ValidationRule = (context) => {
  const check = (
    node: StringValueNode | IntValueNode,
    parent: ASTNode | readonly ASTNode[] | undefined,
    ancestors: readonly (ASTNode | readonly ASTNode[])[],
  ) => {
    const type = context.getInputType();
    const scalar = type && getNamedType(type);
    // The default value of a variable is checked together with the variable.
    const isDefault = [parent, ...ancestors].some(
      (each) => each && 'kind' in each && each.kind === Kind.VARIABLE_DEFINITION,
    );
    if (!isScalarType(scalar) || scalar.extensions.faultAt !== idFault || isDefault) return;
    const fields = getNamedType(context.getParentInputType());
    const isField = parent && 'kind' in parent && parent.kind === Kind.OBJECT_FIELD && isInputObjectType(fields);
    const element = isField ? fields.getFields()[parent.name.value] : holderOf(ancestors, context);
    const fault = idFault(scalar.parseLiteral(node), element);
    if (fault) context.reportError(new GraphQLError(fault.message, { nodes: node, extensions: { code: BAD, fault } }));
  };
  return {
    IntValue: (node, _key, parent, _path, ancestors) => check(node, parent, ancestors),
    StringValue: (node, _key, parent, _path, ancestors) => check(node, parent, ancestors),
  };
};

/**
 * Replaces {@link Id} and the `type` of each form with one scalar `ID`, which accepts all forms of identifiers. Returns the new
 * schema.
 */
export function withIdForms(schema: GraphQLSchema, forms: readonly IdForm[]): GraphQLSchema {
  // `Id` has another name, since `mapSchema` maps no types that are named like a built-in scalar.
  const scalar = idScalar(
    'ID',
    forms.toSorted((a, b) => (a.rule < b.rule ? -1 : 1)),
  );
  const withForm = <Config extends { type: GraphQLInputType; extensions?: object | null }>(config: Config) => {
    const form = forms.find(({ type }) => type === getNamedType(config.type));
    if (!form) return undefined;
    return { ...config, type: withScalar(config.type, scalar), extensions: { ...config.extensions, idForm: form } };
  };
  return mapSchema(schema, {
    [MapperKind.SCALAR_TYPE]: (type) => (type === Id ? scalar : undefined),
    [MapperKind.ARGUMENT]: withForm,
    [MapperKind.INPUT_OBJECT_FIELD]: withForm,
  });
}

/** Replaces the innermost type. */
function withScalar(type: GraphQLInputType, scalar: GraphQLScalarType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(withScalar(type.ofType, scalar));
  return isListType(type) ? new GraphQLList(withScalar(type.ofType, scalar)) : scalar;
}

/** An argument that is the id of an object. @param what the kind of object: `pet`. */
export const IdOf = (what: string, name = 'id') => Arg(name, () => Id, { description: `The ${what}'s id.` });

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
    return reject('must be a real date-time of RFC 3339 with an offset, such as 2026-11-21T09:30:00Z');
  }
}

function bounded(date: Date): Date {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : reject('must be in the years 1 to 9999');
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

const BAD = 'BAD_USER_INPUT';

function reject(message: string): never {
  throw new GraphQLError(message, { extensions: { code: BAD, fault: { message, rule: 'TYPE' } satisfies Fault } });
}
