import { collectSubFields } from '@graphql-tools/utils';
import { type FieldNode, type GraphQLObjectType, type GraphQLResolveInfo, getNamedType } from 'graphql';
import { createParameterDecorator, Extensions } from 'type-graphql';
import { type FieldSelection, WHOLE_ROW } from '../database/reading/selection';
import type { Context } from './context';
import { leafSelection } from './leaves';
import { rowSelection } from './row-selection';

/**
 * Injects the selection of the field's rows; for a connection, the selection of its nodes. For a leaf (leaves.ts), the
 * selection describes JSON. For an event, rows are read whole, since subscribers with different selections share them.
 */
export const Selected = (): ParameterDecorator => (prototype, method, index) => {
  createParameterDecorator<Context>(({ info, context }) => {
    const leaf = leafSelection(info.fieldNodes[0]);
    if (leaf) return context.nested ? { ...leaf, nested: context.nested } : leaf;
    return context.eventLoaders ? WHOLE_ROW : selectionOf(info);
  })(prototype, method as string, index);
  // Only the fields that get a selection can return JSON.
  Extensions({ isSelected: true })(prototype, method as string);
};

/**
 * Injects a function. It takes the name of one of the field's possible types, and returns the selection of rows of this
 * type.
 */
export const SelectedByType = (): ParameterDecorator => (prototype, method, index) => {
  createParameterDecorator<Context>(
    ({ info }) =>
      (name: string) =>
        rowSelection(info.schema.getType(name), info.fieldNodes, fieldsIn(info)),
  )(prototype, method as string, index);
  Extensions({ isSelectedByType: true })(prototype, method as string);
};

/** A cache of selections by their array of field nodes. graphql-js passes the same array for all rows of a selection. */
const known = new WeakMap<readonly FieldNode[], FieldSelection>();

function selectionOf(info: GraphQLResolveInfo): FieldSelection {
  let selection = known.get(info.fieldNodes);
  if (!selection) {
    selection = rowSelection(getNamedType(info.returnType), info.fieldNodes, fieldsIn(info));
    known.set(info.fieldNodes, selection);
  }
  return selection;
}

/** Returns the fields that nodes select on an object type, with the nodes of each field. */
function fieldsIn({ schema, fragments, variableValues }: GraphQLResolveInfo) {
  return (type: GraphQLObjectType, nodes: readonly FieldNode[]) => {
    const { fields } = collectSubFields(schema, fragments, variableValues, type, [...nodes]);
    return Array.from(fields.values()).flatMap((inner) => {
      const field = type.getFields()[inner[0]?.name.value ?? ''];
      return field ? [[field, inner] as const] : [];
    });
  };
}
