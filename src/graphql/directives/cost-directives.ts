import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  getDirectiveValues,
} from 'graphql';
import { Directive } from 'type-graphql';
import { DEFAULT_PAGE } from '../../domain/connection';

type Field = GraphQLField<unknown, unknown>;

/** Marks a connection field with the arguments that set its page size, for the cost estimate. */
export const Paged = (...slicingArguments: string[]) =>
  Directive(
    `@listSize(assumedSize: ${DEFAULT_PAGE}, slicingArguments: ${JSON.stringify(slicingArguments)}, ` +
      'sizedFields: ["edges", "nodes"], requireOneSlicingArgument: false)',
  );

/** Marks a field that costs as much as `weight` others. */
export const Weighs = (weight: number) => Directive(`@cost(weight: "${weight}")`);

const NAMES = new GraphQLList(new GraphQLNonNull(GraphQLString));

const LIST_SIZE = new GraphQLDirective({
  name: 'listSize',
  description: "How long a list may be, for estimating an operation's cost.",
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    assumedSize: { type: GraphQLInt, description: 'The length if no argument sets it.' },
    slicingArguments: { type: NAMES, description: 'The arguments that set the length.' },
    sizedFields: { type: NAMES, description: 'The fields of the connection that have this length.' },
    requireOneSlicingArgument: {
      type: GraphQLBoolean,
      defaultValue: true,
      description: 'Whether one of the slicing arguments is required.',
    },
  },
});

const COST = new GraphQLDirective({
  name: 'cost',
  description: "A field's weight in the estimate of an operation's cost; 1 for fields without it.",
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { weight: { type: new GraphQLNonNull(GraphQLString), description: 'The weight, a number.' } },
});

/** From IBM's GraphQL Cost Directives Specification: only what this schema needs. */
export const COST_DIRECTIVES = [COST, LIST_SIZE];

export interface ListSize {
  readonly assumedSize: number;
  readonly slicingArguments: readonly string[];
  readonly sizedFields: readonly string[];
}

/** The `@listSize` of a connection field; `undefined` for other fields. */
export function listSizeOf({ astNode }: Field): ListSize | undefined {
  return astNode ? (getDirectiveValues(LIST_SIZE, astNode) as ListSize | undefined) : undefined;
}

export function weightOf({ astNode }: Field): number {
  return astNode ? Number(getDirectiveValues(COST, astNode)?.weight ?? 1) : 1;
}
