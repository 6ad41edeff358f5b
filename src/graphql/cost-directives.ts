import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLInputField,
  getDirectiveValues,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
} from 'graphql';
import { Directive } from 'type-graphql';
import { DEFAULT_PAGE } from './connection';

type Field = GraphQLField<unknown, unknown>;

/** The number of characters of a long text that cost 1. */
const CHARACTERS = 200;

/**
 * The weights of schema elements that cost more than a single value. The unit is the average cost to read a value, write it
 * as JSON and send it. docs/bounds.md explains the weights to clients.
 */
export const WEIGHTS = {
  /** A text of up to 2,000 characters. */
  text: 2_000 / CHARACTERS,
  /** A database statement, or the part of a statement that reads the page of one parent. */
  statement: 20,
  /** Creating a row: its statement, and what an idempotency key adds. */
  creation: 60,
  /** Changing or deleting a row: locks, checks and writes. */
  change: 100,
  /** Reading usage counts. Each read first saves the pending counts of this process. */
  usage: 40,
  /** Finding rows of several types by their ids. */
  references: 80,
  filter: 10,
  /** Searching for a text inside stored texts. */
  search: 1000,
  /** Counting up to 10,000 rows. */
  count: 250,
};

/** Marks a connection field with the arguments that set its page size, for the cost estimate. */
export const Paged =
  (...slicingArguments: string[]): MethodDecorator =>
  (prototype, name, descriptor) => {
    Weighs(WEIGHTS.statement)(prototype, name, descriptor);
    Directive(
      `@listSize(assumedSize: ${DEFAULT_PAGE}, slicingArguments: ${JSON.stringify(slicingArguments)}, ` +
        'sizedFields: ["edges", "nodes"], requireOneSlicingArgument: false)',
    )(prototype, name, descriptor);
  };

/** Sets the cost of a field, or the cost that an argument or an input field adds to its field. */
export const Weighs = (weight: number) => Directive(`@cost(weight: "${weight}")`);

/**
 * Marks a list field whose length depends on an argument. The argument is the length itself, or a list of this length.
 * @param otherwise the default value of the argument.
 */
export const Sized = (argument: string, otherwise?: number) => {
  const assumed = otherwise === undefined ? '' : `assumedSize: ${otherwise}, `;
  return Directive(`@listSize(${assumed}slicingArguments: ["${argument}"], requireOneSlicingArgument: false)`);
};

/** Marks a list that is never longer than `most`. */
export const AtMost = (most: number) => Directive(`@listSize(assumedSize: ${most}, requireOneSlicingArgument: false)`);

/** The part of IBM's GraphQL Cost Directives Specification that this schema needs. */
const definitions = buildSchema(`
  "The cost that an element adds to the estimated cost of an operation. Without this directive, a field adds 1, and an argument or an input field adds nothing."
  directive @cost("The cost, as a number." weight: String!) on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION

  "The maximum length of a list, for the estimated cost of an operation."
  directive @listSize(
    "The length if no argument sets it."
    assumedSize: Int
    "The arguments that set the length. Each argument is the length itself, or a list of this length."
    slicingArguments: [String!]
    "The fields of the connection that have this length."
    sizedFields: [String!]
    "Whether one of the slicing arguments is required."
    requireOneSlicingArgument: Boolean = true
  ) on FIELD_DEFINITION
`);
const COST = definitions.getDirective('cost') as GraphQLDirective;
const LIST_SIZE = definitions.getDirective('listSize') as GraphQLDirective;

export const COST_DIRECTIVES = [COST, LIST_SIZE];

interface ListSize {
  readonly assumedSize?: number;
  readonly slicingArguments?: readonly string[];
  /** The fields of the returned object that are lists of this length. If absent, the field itself is the list. */
  readonly sizedFields?: readonly string[];
}

/** Sets the cost of a field of a built schema that returns a text of this length. */
export function weighText(field: Field, characters: number): void {
  const weight = Math.ceil(characters / CHARACTERS);
  const [type] = parse(`type Texts { ${field.name}: String! @cost(weight: "${weight}") }`).definitions;
  field.astNode = (type as ObjectTypeDefinitionNode).fields?.[0];
}

/** The `@listSize` of a field, if the field has this directive. */
export function listSizeOf({ astNode }: Field): ListSize | undefined {
  return astNode ? (getDirectiveValues(LIST_SIZE, astNode) as ListSize | undefined) : undefined;
}

/** The weight that `@cost` gives an element, or `otherwise`. */
export function weightOf({ astNode }: Field | GraphQLInputField | GraphQLArgument, otherwise: number): number {
  const directive = astNode?.directives?.find(({ name }) => name.value === COST.name);
  const weight = directive?.arguments?.[0]?.value;
  return weight?.kind === Kind.STRING ? Number(weight.value) : otherwise;
}
