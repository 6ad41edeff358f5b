import { type FieldNode, getNullableType, isListType, type OperationTypeNode, type ValueNode } from 'graphql';
import { MAX_PAGE } from '../../domain/connection';
import { listSizeOf, weightOf } from '../directives/cost-directives';
import type { Variables } from '../executor/context';
import type { FieldPlan, SelectionPlan } from '../executor/run';
import { constant, type Estimate, sum, times } from './estimate';

/** The assumed length of lists without pages, such as those of introspection. */
const ASSUMED_LENGTH = 7;

/**
 * The maximum estimated number of values in the response to an operation of each kind. A subscription's is that of each
 * event, as it is charged only when it starts.
 */
export type CostLimits = Readonly<Record<`${OperationTypeNode}`, number>>;

/** The page of a connection: its fields that are lists of the page's length, and that length. */
interface Page {
  readonly fields: readonly string[];
  readonly length: Estimate;
}

/**
 * Estimates, before an operation runs, how many values (objects and scalars) its response can contain. Each field
 * counts as one, or as the weight of its `@cost`, multiplied within a list by the maximum length, which `@listSize`
 * sets.
 */
export function estimateSize(selection: SelectionPlan, page?: Page): Estimate {
  return sum(selection.fields.map((field) => estimateField(field, page)));
}

function estimateField({ field, nodes, selection }: FieldPlan, page?: Page): Estimate {
  const weight = constant(weightOf(field));
  if (!selection) return weight;
  const one = sum([weight, estimateSize(selection, pageOf(field, nodes[0]))]);
  if (!isListType(getNullableType(field.type))) return one;
  return times(page?.fields.includes(field.name) ? page.length : constant(ASSUMED_LENGTH), one);
}

function pageOf(field: FieldPlan['field'], node: FieldNode | undefined): Page | undefined {
  const listSize = listSizeOf(field);
  if (!listSize) return undefined;
  const { slicingArguments, sizedFields, assumedSize } = listSize;
  const given = slicingArguments.flatMap(
    (name) => node?.arguments?.find((argument) => argument.name.value === name)?.value ?? [],
  );
  const at = (variables: Variables) => {
    const lengths = given.map((value) => lengthOf(value, variables));
    return lengths.find((length) => length !== undefined) ?? assumedSize;
  };
  const varies = given.some(({ kind }) => kind === 'Variable');
  return { fields: sizedFields, length: varies ? { most: MAX_PAGE, at } : constant(at({})) };
}

/** Lengths out of bounds are rejected in execution; here a negative one must not reduce the total. */
function lengthOf(value: ValueNode, variables: Variables): number | undefined {
  const length =
    value.kind === 'IntValue' ? Number(value.value) : value.kind === 'Variable' && variables[value.name.value];
  return typeof length === 'number' ? Math.min(Math.max(length, 0), MAX_PAGE) : undefined;
}
