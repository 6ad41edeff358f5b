import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  type OperationDefinitionNode,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { ErrorDetail } from '../../domain/domain-error';
import { faultsOf } from '../../domain/input-rules';
import { type Element, ruleOf } from '../directives/json-schema';
import type { Variables } from '../executor/context';

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
    const given = (value as Variables)[field.name];
    const at = `${path}.${field.name}`;
    return [...ruleErrors(field, given, at), ...innerRuleErrors(field.type, given, at)];
  });
}

/** The arguments and input fields of an operation that take a variable as it is. */
export function takersOf(schema: GraphQLSchema, operation: OperationDefinitionNode): (variable: string) => Element[] {
  const takers: { element: Element; variable: string }[] = [];
  const note = (element: Element | null | undefined, value: ValueNode) => {
    if (element && value.kind === 'Variable') takers.push({ element, variable: value.name.value });
  };
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    Argument: ({ value }) => note(types.getArgument(), value),
    ObjectField: ({ name, value }) => {
      const parent = getNamedType(types.getParentInputType());
      if (isInputObjectType(parent)) note(parent.getFields()[name.value], value);
    },
  });
  visit(operation, visitor);
  return (variable) => takers.filter((taker) => taker.variable === variable).map(({ element }) => element);
}
