import { collectSubFields, memoize1 } from '@graphql-tools/utils';
import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { createParameterDecorator } from 'type-graphql';
import { type FieldSelection, NOTHING } from '../database/reading/selection';
import type { Context } from './context';
import { leafSelection } from './leaves';

/**
 * Injects the selection of the field's rows; for a connection, the selection of its nodes. For a leaf (leaves.ts), the
 * selection describes JSON. For an event, the selection has all columns, since all subscribers share the rows that are
 * read for the event.
 */
export const Selected = () =>
  createParameterDecorator<Context>(({ info, context }) => {
    const leaf = leafSelection(info.fieldNodes[0]);
    if (leaf) return context.nested ? { ...leaf, nested: context.nested } : leaf;
    return context.eventLoaders ? wholeRow(getNamedType(info.returnType)) : selectionOf(info);
  });

/**
 * Injects a function. It takes the name of one of the field's possible types, and returns the selection of rows of this
 * type.
 */
export const SelectedByType = () =>
  createParameterDecorator<Context>(
    ({ info }) =>
      (name: string) =>
        columnsUnder(info, info.schema.getType(name), info.fieldNodes),
  );

/** All columns of a type's rows. */
const wholeRow = memoize1((type: GraphQLNamedType): FieldSelection => {
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  const columns = fields.filter((field) => isLeafType(getNamedType(field.type)));
  return { kind: 'fields', fields: new Map(columns.map(({ name }) => [name, NOTHING])) };
});

/** A cache of selections by their array of field nodes. graphql-js passes the same array for all rows of a selection. */
const known = new WeakMap<readonly FieldNode[], FieldSelection>();

function selectionOf(info: GraphQLResolveInfo): FieldSelection {
  let selection = known.get(info.fieldNodes);
  if (!selection) {
    selection = columnsUnder(info, getNamedType(info.returnType), info.fieldNodes);
    known.set(info.fieldNodes, selection);
  }
  return selection;
}

/** The selection of a field of this type; for a connection, the selection of its nodes. */
function columnsUnder(info: GraphQLResolveInfo, type: unknown, nodes: readonly FieldNode[]): FieldSelection {
  if (!isObjectType(type)) return NOTHING;
  const selected = fieldsOf(info, type, nodes);
  if (!('nodes' in type.getFields()))
    return merged(selected.map(([name, inner]) => [name, columnsUnder(info, typeOf(type, name), inner)]));
  const rows = selected.flatMap(([name, inner]) => {
    const layer = typeOf(type, name);
    if (name === 'nodes') return columnsUnder(info, layer, inner);
    if (name !== 'edges' || !isObjectType(layer)) return [];
    return fieldsOf(info, layer, inner).flatMap(([part, node]) =>
      part === 'node' ? columnsUnder(info, typeOf(layer, part), node) : [],
    );
  });
  return merged(rows.flatMap(({ fields }) => [...fields]));
}

function typeOf(type: GraphQLObjectType, field: string): GraphQLNamedType | undefined {
  return getNamedType(type.getFields()[field]?.type);
}

/** The selected fields: their names and field nodes. */
function fieldsOf(
  { schema, fragments, variableValues }: GraphQLResolveInfo,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): [name: string, nodes: readonly FieldNode[]][] {
  const { fields } = collectSubFields(schema, fragments, variableValues, type, [...nodes]);
  return Array.from(fields.values(), (inner) => [inner[0]?.name.value ?? '', inner]);
}

/** Merges the selections of fields with the same name. */
function merged(selected: readonly (readonly [name: string, selection: FieldSelection])[]): FieldSelection {
  const fields = new Map<string, FieldSelection>();
  for (const [name, selection] of selected) {
    const other = fields.get(name);
    fields.set(name, other ? merged([...other.fields, ...selection.fields]) : selection);
  }
  return { kind: 'fields', fields };
}
