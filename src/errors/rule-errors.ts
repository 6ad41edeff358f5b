import {
  type ASTNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { argumentPath } from './argument-path';
import type { ErrorDetail } from './domain-error';
import { faultsOf, type Rule } from './input-rules';

/** A field, or an argument. */
export type Element = GraphQLField<unknown, unknown> | GraphQLInputField | GraphQLArgument;

/** The rule of a field; empty if it has none. */
export function ruleOf({ extensions }: Element): Rule {
  return (extensions.rule as Rule | undefined) ?? {};
}

/** Which rule of a field or an argument a value breaks. */
export function ruleErrors(element: Element, value: unknown, path: string): ErrorDetail[] {
  return faultsOf(ruleOf(element), value).map((message) => ({ path, message }));
}

/** Which rules of input fields are broken inside a value, which need not fit its type. */
export function innerRuleErrors(type: GraphQLInputType, value: unknown, path: string): ErrorDetail[] {
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

/** Where a variable is used. */
export interface Place {
  /** From its argument: `input`, `filter.ids.1`. */
  readonly path: string;
  /** The argument or input field that takes it as it is; `undefined` for an item of a list. */
  readonly element: Element | undefined;
}

/** Where an operation, with the fragments that it spreads, uses each variable. */
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
      if (path) places.push({ variable: node.name.value, path, element: takerOf(parent, types) });
    },
  });
  visit(operation, visitor);
  // A set also goes through what is added meanwhile.
  for (const fragment of spread) visit(fragment, visitor);
  return (variable) => places.filter((place) => place.variable === variable);
}

function takerOf(parent: ASTNode | readonly ASTNode[], types: TypeInfo): Element | undefined {
  if (!('kind' in parent)) return undefined;
  if (parent.kind === Kind.ARGUMENT) return types.getArgument() ?? undefined;
  if (parent.kind !== Kind.OBJECT_FIELD) return undefined;
  const object = getNamedType(types.getParentInputType());
  return isInputObjectType(object) ? object.getFields()[parent.name.value] : undefined;
}
