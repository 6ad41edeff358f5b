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
import { DEFAULT_PAGE } from '../domain/connection';

type Field = GraphQLField<unknown, unknown>;

/** Marks a connection field: how long its page is, for the estimate of what an operation costs. */
export const Paged = (...slicingArguments: string[]) =>
  Directive(
    `@listSize(assumedSize: ${DEFAULT_PAGE}, slicingArguments: ${JSON.stringify(slicingArguments)}, ` +
      'sizedFields: ["edges", "nodes"], requireOneSlicingArgument: false)',
  );

/** Marks a field whose value weighs as much as `weight` others. */
export const Weighs = (weight: number) => Directive(`@cost(weight: "${weight}")`);

const NAMES = new GraphQLList(new GraphQLNonNull(GraphQLString));

const LIST_SIZE = new GraphQLDirective({
  name: 'listSize',
  description: 'How long a list may be, for the estimate of what an operation costs.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    assumedSize: { type: GraphQLInt, description: 'Its length where no argument says it.' },
    slicingArguments: { type: NAMES, description: 'The arguments that say its length.' },
    sizedFields: { type: NAMES, description: 'The fields of its connection that are this long.' },
    requireOneSlicingArgument: {
      type: GraphQLBoolean,
      defaultValue: true,
      description: 'Whether one of the arguments has to be given.',
    },
  },
});

const COST = new GraphQLDirective({
  name: 'cost',
  description: 'How much a field counts in the estimate of what an operation costs; others count 1.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { weight: { type: new GraphQLNonNull(GraphQLString), description: 'A number.' } },
});

/** Of IBM's GraphQL Cost Directives Specification, as far as this schema needs them. */
export const COST_DIRECTIVES = [COST, LIST_SIZE];

export interface ListSize {
  readonly assumedSize: number;
  readonly slicingArguments: readonly string[];
  readonly sizedFields: readonly string[];
}

/** What a connection field says of its page; `undefined` of other fields. */
export function listSizeOf({ astNode }: Field): ListSize | undefined {
  return astNode ? (getDirectiveValues(LIST_SIZE, astNode) as ListSize | undefined) : undefined;
}

export function weightOf({ astNode }: Field): number {
  return astNode ? Number(getDirectiveValues(COST, astNode)?.weight ?? 1) : 1;
}
