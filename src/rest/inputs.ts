import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
} from 'graphql';
import { integerRule, type Rule, ruleOf } from '../errors/inputs';
import { type Operation, pathParameters, routeOf } from './rest-operation';
import { INT32, jsonReader, type Read, SCALARS, textReader } from './scalar-formats';
import { type Sort, sortsOf } from './sorts';

type Target = readonly [argument: string, field?: string];
type Element = GraphQLArgument | GraphQLInputField;

/** One input of an operation, and what it becomes in GraphQL. */
export interface Input {
  readonly name: string;
  /** The argument, or the field of the argument `filter` or `input`. */
  readonly element: Element;
  readonly type: GraphQLInputType;
  /** What its value must keep beyond its type. */
  readonly rule: Rule;
  /** The location of its value in the variables: `['after']`, `['filter', 'ids']`. */
  readonly target: Target;
  readonly required: boolean;
  /** Whether it is a query parameter that may be repeated. */
  readonly repeatable: boolean;
  /** The sort orders to choose from, if the input is one. */
  readonly sorts?: ReadonlyMap<string, Sort>;
  /** The error message for a value that does not fit the type. */
  readonly mustBe: string;
  readonly read: Read;
}

/** The inputs of an operation, by location and name. */
export interface Inputs {
  readonly path: ReadonlyMap<string, Input>;
  readonly query: ReadonlyMap<string, Input>;
  readonly body: ReadonlyMap<string, Input>;
}

/** The parameters for the arguments of a list, in their order. */
const PARAMETERS = { first: 'limit', after: 'cursor', orderBy: 'sort', days: 'days' };

/** @param body the type of the body. @throws Error if a path parameter has no argument. */
export function inputsOf(
  operation: Operation,
  root: GraphQLField<unknown, unknown>,
  body: GraphQLInputObjectType | undefined,
): Inputs {
  const { method, path } = routeOf(operation);
  const argument = (name: string) => root.args.find((each) => each.name === name);
  const inPath = pathParameters(path).map((name) => {
    const found = argument(name) ?? argument('id');
    if (!found) throw new Error(`${root.name} has no argument for ${name}`);
    return inputOf(name, found, [found.name], textReader);
  });
  const ofList = Object.entries(PARAMETERS).flatMap(([from, name]) => {
    const found = argument(from);
    return found ? [inputOf(name, found, [from], textReader)] : [];
  });
  const filters = membersOf(argument('filter')?.type).map((field) =>
    inputOf(operation.filters?.[field.name] ?? field.name, field, ['filter', field.name], textReader),
  );
  const inBody = membersOf(body).map((field) => inputOf(field.name, field, ['input', field.name], jsonReader));
  return {
    path: byName(inPath),
    query: byName(method === 'GET' ? [...ofList, ...filters] : []),
    body: byName(inBody),
  };
}

function byName(inputs: readonly Input[]): ReadonlyMap<string, Input> {
  return new Map(inputs.map((input) => [input.name, input]));
}

function membersOf(type: GraphQLInputType | undefined): GraphQLInputField[] {
  const shape = type && getNamedType(type);
  return isInputObjectType(shape) ? Object.values(shape.getFields()) : [];
}

function inputOf(name: string, element: Element, target: Target, readerOf: typeof jsonReader): Input {
  const { type } = element;
  const named = getNamedType(type);
  const sorts = isInputObjectType(named) ? sortsOf(named) : undefined;
  return {
    name,
    element,
    type,
    rule: ruleOf(element),
    target,
    required: isRequiredArgument(element),
    repeatable: isListType(getNullableType(type)),
    ...(sorts && { sorts }),
    mustBe: sorts ? oneOf([...sorts.keys()]) : mustBe(named, element),
    read: sorts ? (raw) => sorts.get(String(raw)) ?? raw : readerOf(named.name),
  };
}

function mustBe(type: GraphQLNamedType, element: Element): string {
  if (isEnumType(type)) return oneOf(type.getValues().map(({ name }) => name));
  const { minimum, maximum } = { ...INT32, ...ruleOf(element) };
  const scalar = SCALARS[type.name];
  if (!scalar) throw new Error(`REST has no inputs of the type ${type.name}`);
  return scalar.mustBe ?? integerRule(minimum, maximum);
}

function oneOf(values: string[]): string {
  return `must be one of ${values.join(', ')}`;
}
