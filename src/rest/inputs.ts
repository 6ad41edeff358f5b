import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { integerRule } from '../domain/rules';
import { coercerOf } from '../graphql/input-values';
import { readJson, readText } from './input-values';
import { SCHEMAS } from './openapi/schemas';
import { INT32, PAGE_SIZE, type Schema } from './openapi/values';
import { type Operation, routeOf } from './operation';
import { type Sort, sortsOf } from './sorts';

/** One input of an operation: a variable of its document, under the same name. */
export interface Input {
  readonly name: string;
  readonly in: 'path' | 'query' | 'body';
  readonly type: GraphQLInputType;
  readonly required: boolean;
  /** Whether it is a query parameter that may be repeated. */
  readonly repeatable: boolean;
  /** The sort orders to choose from, if the input is one. */
  readonly sorts?: ReadonlyMap<string, Sort>;
  /** The error message for an invalid value: `must be …`. */
  readonly rule: string;
  /** Converts a raw value to the variable's; an invalid one becomes something that does not fit the type. */
  read(raw: unknown): unknown;
  /** Coerces the variable to its type. @throws any error if it does not fit. */
  readonly coerce: (value: unknown) => unknown;
}

/** The inputs of an operation, by location. */
export interface Inputs {
  readonly path: ReadonlyMap<string, Input>;
  readonly query: ReadonlyMap<string, Input>;
  readonly body: ReadonlyMap<string, Input>;
}

export function inputsOf(
  schema: GraphQLSchema,
  operation: Operation,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Inputs {
  const inputs = variableDefinitions.map((definition) => inputOf(schema, operation, definition));
  const standingIn = (place: Input['in']) =>
    new Map(inputs.filter((input) => input.in === place).map((input) => [input.name, input]));
  return { path: standingIn('path'), query: standingIn('query'), body: standingIn('body') };
}

function inputOf(schema: GraphQLSchema, operation: Operation, definition: VariableDefinitionNode): Input {
  const name = definition.variable.name.value;
  const type = typeFromAST(schema, definition.type as Parameters<typeof typeFromAST>[1]) as GraphQLInputType;
  const place = placeOf(operation, name);
  const named = getNamedType(type);
  const sorts = isInputObjectType(named) ? sortsOf(named) : undefined;
  const read =
    place === 'body'
      ? (raw: unknown) => readJson(named.name, raw)
      : (raw: unknown) => (sorts ? (sorts.get(String(raw)) ?? raw) : readText(named.name, raw));
  return {
    name,
    in: place,
    type,
    required: isNonNullType(type) && !definition.defaultValue,
    repeatable: isListType(getNullableType(type)),
    ...(sorts && { sorts }),
    rule: sorts ? oneOf([...sorts.keys()]) : ruleOf(named, integerSchema(operation, place, name)),
    read,
    coerce: coercerOf(type),
  };
}

function placeOf(operation: Operation, name: string): Input['in'] {
  const { method, path } = routeOf(operation);
  if (path.includes(`{${name}}`)) return 'path';
  return method === 'GET' ? 'query' : 'body';
}

const RULES: Readonly<Record<string, string>> = {
  ID: 'must be an integer from 1 to 9223372036854775807',
  String: 'must be a string',
  Boolean: 'must be true or false',
  DateTime: 'must be a real date-time of RFC 3339 with an offset, such as 2026-11-21T09:30:00+01:00',
};

/** The schema of an integer in the OpenAPI document. */
function integerSchema({ body }: Operation, place: Input['in'], name: string): Schema {
  if (place === 'query') return name === 'limit' ? PAGE_SIZE : INT32;
  return { ...INT32, ...(body && SCHEMAS[body].properties?.[name]) };
}

function ruleOf(type: GraphQLInputType & { name: string }, { minimum, maximum }: Schema): string {
  if (isEnumType(type)) return oneOf(type.getValues().map(({ name }) => name));
  const rule = type.name === 'Int' ? integerRule(Number(minimum), Number(maximum)) : RULES[type.name];
  if (rule) return rule;
  throw new Error(`REST has no inputs of the type ${type.name}`);
}

function oneOf(values: string[]): string {
  return `must be one of ${values.join(', ')}`;
}
