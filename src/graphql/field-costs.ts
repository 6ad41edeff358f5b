import {
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getNullableType,
  isListType,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import type { Rule } from '../errors/inputs';
import { MAX_PAGE } from './connection';
import { listSizeOf, weightOf } from './cost-directives';
import { constant, type Estimate, estimateAt, sum, times, type Variables } from './estimate';
import { estimateValue, holdsVariable } from './given-values';
import { Introspected } from './introspected';
import type { SelectedField, SelectedFields } from './selected-field';

/** A response key costs nothing up to this length, and one for each further such length that it begins. */
const NAME_LENGTH = 16;
/** The assumed length of lists that do not declare theirs. */
const ASSUMED_LENGTH = MAX_PAGE;

/** What is known of the objects that have a selection. */
interface Place {
  /** The fields that are lists of a page's length, and that length. */
  readonly page?: { readonly fields: readonly string[]; readonly length: Estimate };
  readonly introspected?: Introspected;
}

/** What a field costs in each object that has it. */
interface FieldCost {
  /** By itself: its values, its name, its arguments; each with what it is called in messages. */
  readonly own: readonly (readonly [what: string, cost: Estimate])[];
  /** How many objects it has, which have its selection. */
  readonly length: Estimate;
  readonly inside: Place;
}

/**
 * Estimates what an operation costs before it runs: how much is read, written and sent. Each field counts 1, or the weight of
 * its `@cost`, in every object that has it; `@listSize` says how many there are, and the schema itself how much
 * introspection finds. Long names and given arguments are added.
 */
export class FieldCosts {
  constructor(private readonly schema: GraphQLSchema) {}

  total({ fields }: SelectedFields, place: Place = {}): Estimate {
    return sum(
      fields.map((field) => {
        const { own, length, inside } = this.of(field, place);
        const below = field.selection ? times(length, this.total(field.selection, inside)) : constant(0);
        return sum([...own.map(([, cost]) => cost), below]);
      }),
    );
  }

  /** What each element of the schema adds to the total for these variables. */
  shares(root: SelectedFields, variables: Variables): ReadonlyMap<string, number> {
    const shares = new Map<string, number>();
    const visit = ({ fields }: SelectedFields, place: Place, objects: number) => {
      for (const field of fields) {
        const { own, length, inside } = this.of(field, place);
        for (const [what, cost] of own)
          shares.set(what, (shares.get(what) ?? 0) + objects * estimateAt(cost, variables));
        if (field.selection) visit(field.selection, inside, objects * estimateAt(length, variables));
      }
    };
    visit(root, {}, 1);
    return shares;
  }

  private of(plan: SelectedField, { page, introspected }: Place): FieldCost {
    const { field, key, coordinate, nodes } = plan;
    const found = introspected?.under(plan) ?? Introspected.by(plan, this.schema);
    const parents = introspected?.size ?? 1;
    const listSize = listSizeOf(field);
    const isList = isListType(getNullableType(field.type));
    const sized = page?.fields.includes(field.name) ? page.length : isList ? lengthOf(field, nodes[0]) : constant(1);
    const values = found ? constant(ratio(found.values, parents)) : sized;
    return {
      own: [
        [coordinate, times(values, constant(weightOf(field, 1)))],
        [`names of more than ${NAME_LENGTH} characters`, constant(Math.ceil(key.length / NAME_LENGTH) - 1)],
        ...argumentsOf(plan),
      ],
      length: found ? constant(ratio(found.size, parents)) : sized,
      inside: {
        introspected: found,
        ...(listSize?.sizedFields && { page: { fields: listSize.sizedFields, length: lengthOf(field, nodes[0]) } }),
      },
    };
  }
}

function argumentsOf({ field, coordinate, nodes }: SelectedField): [string, Estimate][] {
  return (nodes[0]?.arguments ?? []).flatMap(({ name, value }): [string, Estimate][] => {
    const argument = field.args.find((each) => each.name === name.value);
    if (!argument) return [];
    return [[`${coordinate}(${argument.name}:)`, estimateValue(argument.type, weightOf(argument, 0), value)]];
  });
}

/** Objects that are nowhere have no fields. */
function ratio(values: number, parents: number): number {
  return parents && values / parents;
}

function lengthOf(field: GraphQLField<unknown, unknown>, node: FieldNode | undefined): Estimate {
  const { assumedSize = ASSUMED_LENGTH, slicingArguments = [] } = listSizeOf(field) ?? {};
  const slicing = field.args.filter(({ name }) => slicingArguments.includes(name));
  const most = Math.max(...slicing.map(({ extensions }) => (extensions.rule as Rule | undefined)?.maximum ?? MAX_PAGE));
  const given = slicingArguments.flatMap(
    (name) => node?.arguments?.find((argument) => argument.name.value === name)?.value ?? [],
  );
  const at = (variables: Variables) => {
    const lengths = given.map((value) => lengthIn(value, most, variables));
    return lengths.find((length) => length !== undefined) ?? assumedSize;
  };
  const varies = given.some(holdsVariable);
  return varies ? { most, at } : constant(at({}));
}

/** Lengths out of bounds are rejected in execution; here a negative one must not reduce the total. */
function lengthIn(node: ValueNode, most: number, variables: Variables): number | undefined {
  const value = valueFromASTUntyped(node, variables);
  const length = Array.isArray(value) ? value.length : value;
  return typeof length === 'number' ? Math.min(Math.max(length, 0), most) : undefined;
}
