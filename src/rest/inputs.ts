import {
  type GraphQLArgument,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql';
import type { Fault } from '../errors/errors';
import { type OperationSource, outOfRange, placesOf, type Rule, ruleOf } from '../errors/input-checks';
import { type Method, methodAndPath, pathParameters, type RestRoute } from './rest-route';
import { INT32, jsonHint, jsonReader, listHint, type Read, restNamesOf, SCALARS, textReader } from './scalar-formats';

type Element = GraphQLArgument | GraphQLInputField;

/** One input of a REST operation (a parameter or a field of the body), and the GraphQL variable that takes its value. */
export interface Input {
  readonly name: string;
  /** The schema element that takes the value: a GraphQL argument or input field. */
  readonly element: Element;
  readonly type: GraphQLInputType;
  /** The rule that the value must follow in addition to its type. */
  readonly rule: Rule;
  /**
   * The variable that takes the value. If this variable takes the whole body, `field` is the name of the value's field in
   * the body.
   */
  readonly variable: string;
  readonly field?: string;
  /** The path of the input in GraphQL errors, such as `after`, `filter.ids` or `input.name`. */
  readonly errorPath: string;
  readonly required: boolean;
  /** Whether the input is a query parameter that may be repeated. */
  readonly repeatable: boolean;
  /**
   * The coerced value that the variable gets if the input is absent; `undefined` if the variable is omitted in this case.
   */
  readonly fallback: unknown;
  /** The possible sort orders, if the input is a sort order. */
  readonly sorts?: Sorts;
  /** The error message for a value that does not fit the type. */
  readonly mustBe: string;
  /** The fault of an integer that does not fit the type; `undefined` if the input is not an integer. */
  readonly range?: Fault;
  readonly read: Read;
  /** What to add to the error message for an invalid value. */
  readonly hint: (raw: unknown) => string;
}

/** The body of an operation. */
export interface Body {
  readonly type: GraphQLInputObjectType;
  /** The variable that holds the whole body; `undefined` if each field of the body has its own variable. */
  readonly variable: string | undefined;
  readonly inputs: ReadonlyMap<string, Input>;
  /**
   * Whether the body is a merge patch, where null sets a field to null. In other bodies, null means that the field is
   * absent, unless the rule of the field rejects null.
   */
  readonly isPatch: boolean;
}

/** The inputs of an operation, by location and name. */
export interface Inputs {
  readonly path: ReadonlyMap<string, Input>;
  readonly query: ReadonlyMap<string, Input>;
  readonly body: Body | undefined;
  /** The default values of variables. A variable gets its default value if its input is absent. */
  readonly fallbacks: readonly (readonly [variable: string, value: unknown])[];
}

/** A variable of a document. */
interface Variable {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly isRequired: boolean;
  /** The default value, coerced. */
  readonly fallback: unknown;
  readonly element: Element;
  /** The path of the argument or input field that takes the variable: `filter.ids`. */
  readonly path: string;
}

/**
 * Derives the inputs of an operation from the variables of its document.
 * @throws Error if a variable has no input, or an input has no variable.
 */
export function inputsOf(source: OperationSource, operation: RestRoute): Inputs {
  const { method, path } = methodAndPath(operation);
  const variables = variablesOf(source);
  const take = (name: string, what: string): Variable => {
    const variable = variables.get(name);
    if (!variable) throw new Error(`${what} has no variable $${name}`);
    variables.delete(name);
    return variable;
  };
  const inPath = pathParameters(path).map((name) => inputOf(take(name, path), textReader));
  const body = bodyOf(source.schema, method, operation, variables, take);
  const inQuery = [...variables.values()].map((variable) => inputOf(variable, textReader));
  const required = inQuery.find((input) => input.required);
  if (required) throw new Error(`$${required.name} must be optional, as query parameters are`);
  if (inQuery[0] && method !== 'GET') throw new Error(`$${inQuery[0].name} is in neither the path nor the body`);
  const optional = [...inQuery, ...(body?.inputs.values() ?? [])];
  const fallbacks = optional.flatMap(({ variable, fallback }) =>
    fallback === undefined ? [] : [[variable, fallback] as const],
  );
  return { path: byName(inPath), query: byName(inQuery), body, fallbacks };
}

function byName(inputs: readonly Input[]): ReadonlyMap<string, Input> {
  return new Map(inputs.map((input) => [input.name, input]));
}

function variablesOf(source: OperationSource): Map<string, Variable> {
  const { schema, node, fragments } = source;
  const placesOfVariable = placesOf(schema, node, fragments);
  return new Map(
    (node.variableDefinitions ?? []).map((definition): [string, Variable] => {
      const name = definition.variable.name.value;
      const [place, another] = placesOfVariable(name);
      if (another || !place?.element) throw new Error(`$${name} must be the whole value of one argument or field`);
      const { element, path } = place;
      return [name, { name, ...typeOf(schema, definition), element: element as Element, path }];
    }),
  );
}

function typeOf(schema: GraphQLSchema, { type: node, defaultValue }: VariableDefinitionNode) {
  // Variables of a valid document have input types.
  const type = typeFromAST(schema, node as Parameters<typeof typeFromAST>[1]) as GraphQLInputType;
  const fallback = defaultValue && valueFromAST(defaultValue, type);
  return { type, isRequired: isNonNullType(type) && !defaultValue, fallback };
}

function inputOf(variable: Variable, readerOf: typeof jsonReader): Input {
  const { name, type, element, path, isRequired, fallback } = variable;
  return {
    ...formatOf(element, type, readerOf),
    name,
    variable: name,
    errorPath: path,
    required: isRequired,
    repeatable: isListType(getNullableType(type)),
    hint: isListType(getNullableType(type)) ? listHint : () => '',
    fallback,
  };
}

/** The type, rule, error message and reader for a value that `element` takes. */
function formatOf(element: Element, type: GraphQLInputType, readerOf: typeof jsonReader) {
  const named = getNamedType(type);
  const rule = ruleOf(element);
  if (!isInputObjectType(named))
    return {
      element,
      type,
      rule,
      mustBe: mustBe(named, rule),
      range: rangeOf(named, rule),
      read: readerOf(named),
    };
  const sorts = sortsOf(named);
  const read = (raw: unknown) => sorts.orders.get(String(raw)) ?? raw;
  return { element, type, rule, sorts, mustBe: oneOf([...sorts.orders.keys()]), read };
}

function mustBe(type: GraphQLNamedType, rule: Rule): string {
  if (isEnumType(type)) return oneOf(restNamesOf(type));
  const scalar = SCALARS[type.name];
  if (!scalar) throw new Error(`REST has no inputs of the type ${type.name}`);
  return scalar.mustBe ?? rangeOf(type, rule)?.message ?? '';
}

function rangeOf(type: GraphQLNamedType, rule: Rule): Fault | undefined {
  const { minimum, maximum } = { ...INT32, ...rule };
  return type.name === 'Int' ? outOfRange(minimum, maximum) : undefined;
}

function oneOf(values: string[]): string {
  return `must be one of ${values.join(', ')}`;
}

/**
 * Derives the inputs in the body. Either one variable takes the whole body, or each field of the body has its own variable.
 * In the second case, the operation names the type of the body.
 * @param take returns a variable and removes it from `variables`, which holds the variables that have no input yet.
 */
function bodyOf(
  schema: GraphQLSchema,
  method: Method,
  { body: named, summary }: RestRoute,
  variables: ReadonlyMap<string, Variable>,
  take: (name: string, what: string) => Variable,
): Body | undefined {
  const isPatch = method === 'PATCH';
  const whole = [...variables.values()].find(({ type }) => isInputObjectType(getNamedType(type)));
  if (named === undefined && (method === 'GET' || !whole)) return undefined;
  const type =
    named === undefined
      ? whole && getNamedType(whole.type)
      : (schema.getType(named) ?? bodyOfVariables(named, summary, [...variables.values()]));
  if (!isInputObjectType(type)) throw new Error(`${named} is not an input type`);
  const fields = Object.values(type.getFields());
  const variable = named === undefined && whole ? take(whole.name, type.name) : undefined;
  const inputs = fields.map((field): Input => {
    const own = variable ?? take(field.name, type.name);
    const required = isRequiredInputField(field);
    const fallback = variable ? undefined : own.fallback;
    if (!variable && getNamedType(own.type) !== getNamedType(field.type))
      throw new Error(`$${own.name} has a different type from ${type.name}.${field.name}`);
    if (method === 'PUT' && !required && fallback === undefined)
      throw new Error(`${type.name}.${field.name} needs a variable with a default, since the field may be absent`);
    return {
      ...formatOf(field, field.type, jsonReader),
      name: field.name,
      variable: own.name,
      ...(variable && { field: field.name }),
      errorPath: variable ? `${own.path}.${field.name}` : own.path,
      required,
      repeatable: false,
      hint: (raw) => jsonHint(getNamedType(field.type).name, raw),
      fallback,
    };
  });
  return { type, variable: variable?.name, inputs: byName(inputs), isPatch };
}

/** The type of a body that exists only in REST. */
function bodyOfVariables(name: string, description: string, variables: readonly Variable[]): GraphQLInputObjectType {
  const fields = variables.map(({ name, type, element: { description, extensions } }) => [
    name,
    { type, description, extensions },
  ]);
  return new GraphQLInputObjectType({ name, description: `${description}.`, fields: Object.fromEntries(fields) });
}

/** A sort order in the form of a GraphQL value. */
interface Sort {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** The sort orders that a list can have. */
interface Sorts {
  /** The sort orders by their REST names, such as `id`, `-id`, `shipDate` and `-shipDate`. */
  readonly orders: ReadonlyMap<string, Sort>;
  /** The REST name of the default order. */
  readonly fallback: string;
}

/** Derives the sort orders from their input type. @throws Error if the input type is not a sort order. */
function sortsOf(orderBy: GraphQLInputObjectType): Sorts {
  const { field, direction } = orderBy.getFields();
  const type = field && getNamedType(field.type);
  if (!isEnumType(type) || !field || !direction) throw new Error(`REST has no inputs of the type ${orderBy.name}`);
  const orders = type.getValues().flatMap(({ name }): [string, Sort][] => [
    [camelCase(name), { field: name, direction: 'ASC' }],
    [`-${camelCase(name)}`, { field: name, direction: 'DESC' }],
  ]);
  return { orders: new Map(orders), fallback: camelCase(String(field.defaultValue)) };
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
