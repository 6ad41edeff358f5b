import { collectFields, collectSubFields } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isListType,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type ValueNode,
  visit,
} from 'graphql';
import { MAX_PAGE } from '../../domain/connection';
import { listSizeOf, weightOf } from '../contract/cost-directives';
import { fieldOf } from '../execution/compile';
import type { Variables } from '../execution/context';
import { constant, type Estimate, sum, times } from './estimate';

/** The assumed length of lists without pages, such as those of introspection. */
const ASSUMED_LENGTH = 7;

/**
 * The maximum estimated number of values in the response to an operation of each kind. A subscription's is that of each
 * event, as it is charged only when it starts.
 */
export type CostLimits = Readonly<Record<`${OperationTypeNode}`, number>>;

/**
 * Estimates, before an operation runs, how many values (objects and scalars) its response can contain. Each
 * field counts as one, or as the weight of its `@cost`, multiplied within a list by the maximum length, which
 * `@listSize` sets. Fields omitted by `@skip` and `@include` count too.
 * @param document validated, and containing the operation.
 */
export function estimateCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Estimate {
  const plain = visit(document, { Directive: () => null });
  const node = getOperationAST(plain, operation.name?.value) ?? operation;
  return new Estimator(schema, plain, node).estimate();
}

/** The page of a connection: its fields that are lists of the page's length, and that length. */
interface Page {
  readonly fields: readonly string[];
  readonly length: Estimate;
}

class Estimator {
  private readonly fragments: Record<string, FragmentDefinitionNode> = {};
  private readonly defaults = new Map<string, ValueNode | undefined>();

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    for (const definition of document.definitions) {
      if (definition.kind === 'FragmentDefinition') this.fragments[definition.name.value] = definition;
    }
    for (const { variable, defaultValue } of operation.variableDefinitions ?? [])
      this.defaults.set(variable.name.value, defaultValue);
  }

  estimate(): Estimate {
    const { operation, selectionSet } = this.operation;
    const type = this.schema.getRootType(operation) as GraphQLObjectType;
    return this.object(type, collectFields(this.schema, this.fragments, {}, type, selectionSet).fields);
  }

  /** @param fields by response key. */
  private object(type: GraphQLObjectType, fields: ReadonlyMap<string, readonly FieldNode[]>, page?: Page): Estimate {
    return sum([...fields.values()].map((nodes) => this.field(type, nodes, page)));
  }

  private field(parent: GraphQLObjectType, nodes: readonly FieldNode[], page?: Page): Estimate {
    const node = nodes[0] as FieldNode;
    const field = fieldOf(this.schema, parent, node.name.value);
    if (!field) return constant(0);
    const type = getNamedType(field.type);
    const weight = constant(weightOf(field));
    if (!(type instanceof GraphQLObjectType)) return weight;
    const { fields } = collectSubFields(this.schema, this.fragments, {}, type, [...nodes]);
    const one = sum([weight, this.object(type, fields, this.sizeOf(field, node))]);
    if (!isListType(getNullableType(field.type))) return one;
    return times(page?.fields.includes(field.name) ? page.length : constant(ASSUMED_LENGTH), one);
  }

  private sizeOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Page | undefined {
    const listSize = listSizeOf(field);
    if (!listSize) return undefined;
    const { slicingArguments, sizedFields, assumedSize } = listSize;
    const given = slicingArguments.flatMap(
      (name) => node.arguments?.find((argument) => argument.name.value === name)?.value ?? [],
    );
    const at = (variables: Variables) => {
      for (const value of given) {
        const length = this.lengthOf(value, variables);
        if (length !== undefined) return length;
      }
      return assumedSize;
    };
    const varies = given.some(({ kind }) => kind === 'Variable');
    return { fields: sizedFields, length: varies ? { most: MAX_PAGE, at } : constant(at({})) };
  }

  private lengthOf(value: ValueNode, variables: Variables): number | undefined {
    if (value.kind === 'IntValue') return bounded(Number(value.value));
    if (value.kind !== 'Variable') return undefined;
    const name = value.name.value;
    const sent = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (typeof sent === 'number') return bounded(sent);
    const fallback = sent === undefined ? this.defaults.get(name) : undefined;
    return fallback && this.lengthOf(fallback, {});
  }
}

/** Lengths out of bounds are rejected in execution; here a negative one must not reduce the total. */
function bounded(length: number): number {
  return Math.min(Math.max(length, 0), MAX_PAGE);
}
