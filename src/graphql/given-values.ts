import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isListType,
  Kind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { weightOf } from './cost-directives';
import { constant, type Estimate } from './estimate';

/** More items than a request can hold. */
const MAX_ITEMS = 100 * 1024;

/**
 * What a value costs that is given for an argument or an input field: nothing if it is null, else its weight and those
 * of what it holds. Each item of a list is 1.
 */
export function estimateValue(type: GraphQLInputType, weight: number, node: ValueNode): Estimate {
  if (!holdsVariable(node)) return constant(costOf(type, weight, valueFromASTUntyped(node)));
  const most = weight + mostInside(type);
  // Most arguments cost nothing, whatever their value.
  return most ? { most, at: (variables) => costOf(type, weight, valueFromASTUntyped(node, variables)) } : constant(0);
}

export function holdsVariable(node: ValueNode): boolean {
  if (node.kind === Kind.LIST) return node.values.some(holdsVariable);
  if (node.kind === Kind.OBJECT) return node.fields.some(({ value }) => holdsVariable(value));
  return node.kind === Kind.VARIABLE;
}

function costOf(type: GraphQLInputType, weight: number, value: unknown): number {
  if (value === null || value === undefined) return 0;
  const shape = getNullableType(type);
  if (isListType(shape)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (isLeafType(getNamedType(shape))) return weight + items.length;
    return items.reduce((cost: number, item) => cost + costOf(shape.ofType, 1, item), weight);
  }
  if (!isInputObjectType(shape) || typeof value !== 'object') return weight;
  const fields = shape.getFields();
  let cost = weight;
  for (const [name, inner] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) && fields[name];
    if (field) cost += costOf(field.type, weightOf(field, 0), inner);
  }
  return cost;
}

/** What anything of a type can cost beside its own weight. */
function mostInside(type: GraphQLInputType): number {
  const shape = getNullableType(type);
  if (isListType(shape)) return MAX_ITEMS;
  if (!isInputObjectType(shape)) return 0;
  const fields = Object.values(shape.getFields());
  return fields.reduce((most, field) => most + weightOf(field, 0) + mostInside(field.type), 0);
}
