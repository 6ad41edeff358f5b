import { memoize1 } from '@graphql-tools/utils';
import {
  type ASTNode,
  coerceInputValue,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type ValidationRule,
  type ValueNode,
  valueFromAST,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { MAX_INT32, MAX_INT64 } from '../database/integers';
import { badInput, type ErrorDetail, type Fault } from './errors';

/** A rule that a value must follow in addition to its type, in keywords of JSON Schema. */
export interface Rule {
  /** False for a field of an update that may be omitted but must not be null. */
  readonly nullable?: false;
  /** Whether surrounding white space is removed before the text is measured and stored. */
  readonly trimmed?: true;
  /** Minimum length in code points. Only 0 and 1 are used. */
  readonly minLength?: number;
  /**
   * Maximum length in code points. A text with a maximum length must also not contain NUL or lone surrogates, which
   * PostgreSQL or JSON cannot represent.
   */
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Numbers within the bounds that are not allowed. */
  readonly not?: { readonly enum: number[] };
  /** A form of texts, and the fault of a text that does not have it. */
  readonly form?: { readonly accepts: (text: string) => boolean; readonly fault: Fault };
}

export { MAX_INT32, MAX_INT64 };

/** A text to search for. */
export const SEARCH = { maxLength: 255 } satisfies Rule;
export const NOT_ZERO = { not: { enum: [0] } } satisfies Rule;
export const PAGE_SIZE = { minimum: 1, maximum: 100 } satisfies Rule;
/** Maximum number of values in all lists of a filter together. */
export const MAX_FILTER_VALUES = PAGE_SIZE.maximum;

/** The fault of a null value that may be omitted instead. */
export const NULL: Fault = { message: 'must not be null; omit it instead', rule: 'REQUIRED' };
export const MISSING: Fault = { message: 'is required', rule: 'REQUIRED' };
export const NOT_A_CURSOR: Fault = { message: 'is not a cursor of this list in this order' };

/** Checks a value, which has the correct type, against a rule. */
export function faultsOf(rule: Rule, value: unknown): Fault[] {
  if (value === null && rule.nullable === false) return [NULL];
  if (typeof value === 'string') return textFaults(rule, value);
  if (typeof value !== 'number') return [];
  const { minimum = -Infinity, maximum = Infinity, not } = rule;
  if (not?.enum.includes(value)) return [{ message: `must not be ${value}`, rule: 'OUT_OF_RANGE' }];
  return value < minimum || value > maximum ? [outOfRange(minimum, maximum)] : [];
}

function textFaults({ trimmed, minLength = 0, maxLength, form }: Rule, value: string): Fault[] {
  if (form && !form.accepts(value)) return [form.fault];
  if (maxLength === undefined) return [];
  const text = trimmed ? value.trim() : value;
  const isTooLong = text.length > maxLength && codePoints(text) > maxLength;
  return [
    ...(text.includes('\0') ? [{ message: 'must not contain the NUL character' }] : []),
    ...(text.isWellFormed() ? [] : [{ message: 'must not contain a lone surrogate' }]),
    ...(isTooLong ? [tooLong(maxLength, 'characters')] : []),
    ...(text === '' && minLength > 0
      ? [{ message: 'must not be empty', rule: 'TOO_SHORT', params: { min: minLength } }]
      : []),
  ];
}

/** @param unit what is counted: `items`. */
export function tooLong(max: number, unit: 'characters' | 'items'): Fault {
  return { message: `must have at most ${max} ${unit}`, rule: 'TOO_LONG', params: { max } };
}

export function outOfRange(min: number, max: number): Fault {
  return { message: integerRule(min, max), rule: 'OUT_OF_RANGE', params: { min, max } };
}

/** The fault of a value that is not of this form. @param what the form, after the words "must be". */
export function notOfForm(what: string): Fault {
  return { message: `must be ${what}`, rule: 'TYPE' };
}

/** The message for a number out of range. */
export function integerRule(minimum: number, maximum: number | bigint): string {
  return `must be an integer from ${minimum} to ${maximum}`;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Collects all problems of an input, so that the caller gets them in one response. */
export class Checks {
  private readonly details: ErrorDetail[] = [];

  /** Checks the fields of an input argument. @returns the input, in which texts are trimmed if their rule requires it. */
  input<Input extends object>(rules: Readonly<Record<string, Rule>>, input: Input): Input {
    const checked = { ...input };
    for (const [field, rule] of Object.entries(rules) as [keyof Input & string, Rule][])
      if (input[field] !== undefined) checked[field] = this.value(`input.${field}`, rule, input[field]);
    return checked;
  }

  value<Value>(path: string, rule: Rule, value: Value): Value {
    for (const fault of faultsOf(rule, value)) this.fail(path, fault);
    return rule.trimmed && typeof value === 'string' ? (value.trim() as Value & string) : value;
  }

  fail(path: string, fault: Fault): void {
    this.details.push({ path, ...fault });
  }

  /** @throws ProblemError `BAD_USER_INPUT` with all failures. */
  done(): void {
    if (this.details.length) throw badInput(...this.details);
  }
}

/**
 * The path from an argument to a value inside it: `filter.ids.1`. It is empty for nodes outside of arguments.
 * @param key the key that graphql-js passes to a visitor.
 * @param parents the ancestors and the parent that graphql-js passes to a visitor.
 */
export function argumentPath(
  key: string | number | undefined,
  parents: readonly (ASTNode | readonly ASTNode[])[],
): string {
  const path: (string | number)[] = [];
  for (const each of parents)
    if ('kind' in each && (each.kind === Kind.ARGUMENT || each.kind === Kind.OBJECT_FIELD)) path.push(each.name.value);
  if (typeof key === 'number') path.push(key);
  return path.join('.');
}

/** A field, or an argument. */
export type Element = GraphQLField<unknown, unknown> | GraphQLInputField | GraphQLArgument;

/** The rule of a field or an argument; an empty rule by default. */
export function ruleOf({ extensions }: Element): Rule {
  return (extensions.rule as Rule | undefined) ?? {};
}

/** The errors of a value that breaks the rule of its field or argument. */
function ruleErrors(element: Element, value: unknown, path: string): ErrorDetail[] {
  return faultsOf(ruleOf(element), value).map((fault) => ({ path, ...fault }));
}

/**
 * One error for each rule that an input field in the value breaks. The value has not been checked against its type.
 */
function innerRuleErrors(type: GraphQLInputType, value: unknown, path: string): ErrorDetail[] {
  if (!isInputObjectType(getNamedType(type))) return [];
  const shape = getNullableType(type);
  if (isListType(shape) && Array.isArray(value))
    return value.flatMap((item, index) => innerRuleErrors(shape.ofType, item, `${path}.${index}`));
  if (isListType(shape)) return innerRuleErrors(shape.ofType, value, path);
  if (!isInputObjectType(shape) || typeof value !== 'object' || value === null) return [];
  return Object.values(shape.getFields()).flatMap((field) => {
    if (!Object.hasOwn(value, field.name)) return [];
    const given = (value as Record<string, unknown>)[field.name];
    const at = `${path}.${field.name}`;
    return [...ruleErrors(field, given, at), ...innerRuleErrors(field.type, given, at)];
  });
}

/** A use of a variable. */
export interface Place {
  /** The path from the argument to the variable: `input`, `filter.ids.1`. */
  readonly path: string;
  /** The argument or input field whose value is the variable; `undefined` if the variable is an item of a list. */
  readonly element: Element | undefined;
  /** The argument or input field that contains the variable; `undefined` in a list of an input field. */
  readonly holder: Element | undefined;
  /** Whether null is not allowed here. */
  readonly isNonNull: boolean;
}

/** The uses of each variable in an operation and its fragments. */
export function placesOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): (variable: string) => Place[] {
  const places: (Place & { readonly variable: string })[] = [];
  const spread = new Set<FragmentDefinitionNode>();
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    FragmentSpread: ({ name }) => {
      const fragment = fragments[name.value];
      if (fragment) spread.add(fragment);
    },
    Variable: (node, key, parent, _path, ancestors) => {
      const path = parent && argumentPath(key, [...ancestors, parent]);
      if (!path) return;
      const element = takerOf(parent, types);
      const holder = element ?? holderOf(ancestors, types);
      places.push({ variable: node.name.value, path, element, holder, isNonNull: isNonNullType(types.getInputType()) });
    },
  });
  visit(operation, visitor);
  // Iterating over a set includes fragments that are added during the iteration.
  for (const fragment of spread) visit(fragment, visitor);
  return (variable) => places.filter((place) => place.variable === variable);
}

/**
 * Reports literals that break the rule of their argument or input field. Services check these rules when the operation runs, so
 * this rule only completes the errors of a document that is rejected for other values.
 */
export const literalRules: ValidationRule = (context) => {
  const check = (node: ValueNode, _key: unknown, parent: ASTNode | readonly ASTNode[] | undefined) => {
    const taker = parent && takerOf(parent, context);
    if (!taker) return;
    for (const fault of faultsOf(ruleOf(taker), valueFromASTUntyped(node)))
      context.reportError(
        new GraphQLError(fault.message, { nodes: node, extensions: { code: 'BAD_USER_INPUT', fault } }),
      );
  };
  return { IntValue: check, StringValue: check, NullValue: check };
};

function takerOf(
  parent: ASTNode | readonly ASTNode[],
  types: Pick<TypeInfo, 'getArgument' | 'getParentInputType'>,
): Element | undefined {
  if (!('kind' in parent)) return undefined;
  if (parent.kind === Kind.ARGUMENT) return types.getArgument() ?? undefined;
  if (parent.kind !== Kind.OBJECT_FIELD) return undefined;
  const object = getNamedType(types.getParentInputType());
  return isInputObjectType(object) ? object.getFields()[parent.name.value] : undefined;
}

/** The argument that directly contains a list; `undefined` for lists of input fields. */
export function holderOf(
  ancestors: readonly (ASTNode | readonly ASTNode[])[],
  types: Pick<TypeInfo, 'getArgument'>,
): Element | undefined {
  const isInField = ancestors.some((each) => 'kind' in each && each.kind === Kind.OBJECT_FIELD);
  return isInField ? undefined : (types.getArgument() ?? undefined);
}

/** Maximum number of reported errors. */
const MAX_ERRORS = 100;
/** Maximum number of nesting levels of variables. Deeper variables could overflow the stack, since `JSON.stringify` recurses. */
const MAX_DEPTH = 100;

/** Whether JSON is nested deeper than a number of levels. */
export function isDeeper(value: unknown, most = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  for (const name in value) if (isDeeper((value as Record<string, unknown>)[name], most - 1)) return true;
  return false;
}

/**
 * The variables that may be null by their type, but are used where null is not allowed. GraphQL allows such a use if there
 * is a default value (section 5.8.5). Without this check, an explicit null would fail when the field runs, after other fields.
 */
export function variablesWithoutNull({ schema, node, fragments }: OperationSource): ReadonlySet<string> {
  const placesOfVariable = placesOf(schema, node, fragments);
  const names = (node.variableDefinitions ?? []).flatMap(({ variable: { name }, type }) =>
    type.kind !== Kind.NON_NULL_TYPE && placesOfVariable(name.value).some(({ isNonNull }) => isNonNull)
      ? name.value
      : [],
  );
  return new Set(names);
}

/** One operation of a validated document. */
export interface OperationSource {
  readonly schema: GraphQLSchema;
  readonly node: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
}

/**
 * Finds all errors in the variables of an operation: values that do not fit their type, and values that break the rule of
 * their argument or input field. The path of an error begins with the argument, as for literals: `input.categoryId`. If the
 * variable is used in several places, the path begins with the name of the variable.
 */
export function variableErrors(
  { schema, node, fragments }: OperationSource,
  variables: Readonly<Record<string, unknown>>,
): ErrorDetail[] {
  const deep = Object.keys(variables).filter((name) => isDeeper(variables[name], MAX_DEPTH - 1));
  const tooDeep = `must have at most ${MAX_DEPTH} nesting levels`;
  if (deep.length) return deep.slice(0, MAX_ERRORS).map((path) => ({ path, message: tooDeep }));
  const placesOfVariable = placesOf(schema, node, fragments);
  const details = (node.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as Parameters<typeof typeFromAST>[1]);
    if (!isInputType(inputType)) return [];
    const given = Object.hasOwn(variables, name);
    if (!given && !defaultValue && type.kind !== 'NonNullType') return [];
    const places = placesOfVariable(name);
    const [path = name, ...others] = new Set(places.map((place) => place.path));
    const root = others.length ? name : path;
    const isNull = given ? variables[name] === null : defaultValue?.kind === Kind.NULL;
    if (isNull && type.kind !== Kind.NON_NULL_TYPE && places.some(({ isNonNull }) => isNonNull)) {
      const message = `must not be null: the variable $${name} is used where null is not allowed`;
      return [{ ...MISSING, path: root, message }];
    }
    const holders = new Set(places.map(({ holder }) => holder));
    if (!given && defaultValue) {
      const value = valueFromAST(defaultValue, inputType);
      return [...holders].flatMap((holder) => positionErrors(inputType, value, value, root, holder));
    }
    if (!given) {
      const message = `must be given: the variable $${name} has the type ${inputType}`;
      return [{ ...MISSING, path: root, message }];
    }
    const takers = new Set(places.flatMap(({ element }) => element ?? []));
    const value = variables[name];
    const misfits = typeErrors(inputType, value, root, holders);
    const misfitPaths = new Set(misfits.map((misfit) => misfit.path));
    const broken = [
      ...[...takers].flatMap((element) => ruleErrors(element, value, root)),
      ...innerRuleErrors(inputType, value, root),
    ];
    return [...misfits, ...broken.filter((fault) => !misfitPaths.has(fault.path))];
  });
  return details.slice(0, MAX_ERRORS);
}

/**
 * Messages of graphql-js about a missing or unknown field. The path of such an error ends at the object, not at the field.
 */
const ABSENT = /^Field "(\w+)" of required type /;
const NOT_NULL = /^Expected non-nullable type /;
const UNKNOWN = /^Field "(.*)" is not defined by type "(\w+)"(?:\.( Did you mean .*))?/s;

/**
 * The errors at all paths where a value does not match its type.
 * @param holders the arguments or input fields that take the value.
 */
export function typeErrors(
  type: GraphQLInputType,
  value: unknown,
  path: string,
  holders: Iterable<Element | undefined>,
): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const note = (inner: readonly (string | number)[], _value: unknown, { message, extensions }: GraphQLError) => {
    if (details.length === MAX_ERRORS) throw new Enough();
    const [, absent] = ABSENT.exec(message) ?? [];
    const [, unknown, type, suggestion = ''] = UNKNOWN.exec(message) ?? [];
    const at = [path, ...inner, absent ?? unknown].filter((part) => part !== undefined).join('.');
    details.push({
      path: at,
      ...(absent
        ? MISSING
        : NOT_NULL.test(message)
          ? { ...MISSING, message: 'must not be null' }
          : type
            ? { message: `is not a field of ${type}${suggestion && `.${suggestion}`}`, rule: 'TYPE' }
            : { message, ...((extensions.fault as Fault | undefined) ?? { rule: 'TYPE' }) }),
    });
  };
  try {
    const coerced = coerceInputValue(value, type, note);
    for (const holder of holders) {
      const misplaced = positionErrors(type, coerced, value, path, holder);
      if (misplaced.length) return [...details, ...misplaced];
    }
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return details;
}

/**
 * A scalar whose accepted values depend on the argument or input field has this function as its extension `faultAt`. The
 * function gets a coerced value.
 */
type FaultAt = (value: unknown, element: Element | undefined) => Fault | undefined;

/**
 * Whether a type contains a scalar with the extension {@link FaultAt}, such as `ID`: another argument, input field or parameter may
 * accept other values of it.
 */
export const dependsOnPosition = memoize1((type: GraphQLNamedType): boolean => {
  const found = new Set<GraphQLNamedType>([type]);
  // Iterating over a set includes types that are added during the iteration.
  for (const each of found)
    if (isInputObjectType(each))
      for (const field of Object.values(each.getFields())) found.add(getNamedType(field.type));
  return [...found].some(({ extensions }) => extensions.faultAt !== undefined);
});

/**
 * The errors at the paths where a position does not accept the value.
 * @param value the coerced value.
 * @param given the value before its coercion.
 * @param most the maximum number of errors. The rest of the value is not checked.
 */
export function positionErrors(
  type: GraphQLInputType,
  value: unknown,
  given: unknown,
  path: string,
  holder: Element | undefined,
  most = MAX_ERRORS,
): ErrorDetail[] {
  const errors: ErrorDetail[] = [];
  const check = (type: GraphQLInputType, value: unknown, given: unknown, path: string, holder?: Element): void => {
    if (value === null || value === undefined || errors.length === most) return;
    const shape = getNullableType(type);
    if (isListType(shape)) {
      const isList = Array.isArray(given);
      for (const [index, item] of (value as readonly unknown[]).entries()) {
        if (errors.length === most) return;
        check(shape.ofType, item, isList ? given[index] : given, isList ? `${path}.${index}` : path, holder);
      }
    } else if (isInputObjectType(shape)) {
      if (!dependsOnPosition(shape)) return;
      const values = value as Readonly<Record<string, unknown>>;
      const before = given as Readonly<Record<string, unknown>> | null | undefined;
      for (const field of Object.values(shape.getFields()))
        check(field.type, values[field.name], before?.[field.name], `${path}.${field.name}`, field);
    } else {
      const fault = (getNamedType(shape).extensions.faultAt as FaultAt | undefined)?.(value, holder);
      if (fault) errors.push({ path, ...fault });
    }
  };
  check(type, value, given, path, holder);
  return errors;
}

/** Thrown to stop collecting errors. */
class Enough extends Error {}
