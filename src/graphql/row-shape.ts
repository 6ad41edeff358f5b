import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import type { Member, Shape, Spelling } from '../database/row-json';

/** What is needed to resolve the selections of a document without directives. */
export interface Selections {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly spelling: Spelling;
}

/**
 * The shape of the rows selected under a field; for a connection, of its nodes. `undefined` if the rows are
 * selected in more than one shape, or one of their fields takes arguments.
 */
export function rowShapeOf(
  selections: Selections,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
): Shape | undefined {
  const [only, ...others] = rowsUnder(selections, type, nodes);
  if (!only || others.length) return undefined;
  const shape = shapeOf(selections, only.type, only.nodes);
  return shape && { ...shape, isList: only.isList };
}

interface Rows {
  readonly type: GraphQLNamedType;
  readonly nodes: readonly FieldNode[];
  readonly isList: boolean;
}

function rowsUnder(selections: Selections, type: GraphQLNamedType, nodes: readonly FieldNode[]): Rows[] {
  if (!isObjectType(type)) return [];
  const { nodes: list, edges } = type.getFields();
  if (!list || !edges) return [{ type, nodes, isList: false }];
  const layers = [...subfields(selections, type, nodes).values()];
  const nameOf = (layer: readonly FieldNode[]) => layer[0]?.name.value;
  // Edges take their cursors from the rows, even if no node is selected.
  const isList = layers.every((layer) => nameOf(layer) !== 'edges');
  return layers.flatMap((layer): Rows[] => {
    const name = nameOf(layer);
    if (name === 'nodes') return [{ type: getNamedType(list.type), nodes: layer, isList }];
    if (name !== 'edges') return [];
    const edge = getNamedType(edges.type);
    return [...subfields(selections, edge, layer).values()]
      .filter(([node]) => node?.name.value === 'node')
      .map((node): Rows => ({ type: getNamedType(list.type), nodes: node, isList: false }));
  });
}

function shapeOf(
  selections: Selections,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
): Shape | undefined {
  if (!isObjectType(type)) return undefined;
  const members: Member[] = [];
  for (const [key, [node, ...more]] of subfields(selections, type, nodes)) {
    const name = node?.name.value ?? '';
    if (name === '__typename') {
      members.push({ key, constant: type.name });
      continue;
    }
    const field = type.getFields()[name];
    if (!node || !field || field.args.length) return undefined;
    const inner = getNamedType(field.type);
    if (isLeafType(inner)) {
      members.push({ key, field: name });
      continue;
    }
    const shape = shapeOf(selections, inner, [node, ...more]);
    if (!shape) return undefined;
    members.push({ key, field: name, shape });
  }
  return { spelling: selections.spelling, members };
}

function subfields(
  { schema, fragments }: Selections,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
): ReadonlyMap<string, readonly FieldNode[]> {
  return isObjectType(type) ? collectSubfields(schema, fragments, {}, type, nodes) : new Map();
}
