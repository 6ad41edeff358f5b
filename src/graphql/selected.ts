import { collectSubFields } from '@graphql-tools/utils';
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
} from 'graphql';
import { createParameterDecorator, Extensions } from 'type-graphql';
import { type FieldSelection, NOTHING, WHOLE_ROW } from '../database/reading/selection';
import type { Context } from './context';
import { hasOwnResolver, placeOf } from './declared-fields';

/** The fields that an operation selects on an object. */
export interface SelectedFields {
  readonly fields: readonly SelectedField[];
}

export interface SelectedField {
  /** The response key. */
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** `Pet.name` */
  readonly coordinate: string;
  readonly nodes: readonly FieldNode[];
  /** `undefined` for scalars and enums. */
  readonly selection: SelectedFields | undefined;
}

/**
 * Injects the selection of the field's rows; for a connection, the selection of its nodes. For a leaf (leaves.ts), the
 * selection describes JSON. For an event, rows are read whole, since subscribers with different selections share them.
 */
export const Selected = (): ParameterDecorator => (prototype, method, index) => {
  createParameterDecorator<Context>(({ info, context }) => {
    const leaf = context.leafAt(info.path);
    if (leaf) return leaf;
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

/** Returns the selected fields of an object, each with a description of the selection below it. */
type FieldsOf<Below> = (
  type: GraphQLObjectType,
  below: Below,
) => readonly (readonly [field: GraphQLField<unknown, unknown>, below: Below])[];

/**
 * The selection of the rows that a field of this type returns; for a connection, the selection of its nodes. A field with a
 * resolver of its own may need any column, so its row is read whole.
 */
function rowSelection<Below>(
  type: GraphQLNamedType | undefined,
  below: Below,
  fieldsOf: FieldsOf<Below>,
): FieldSelection {
  if (!isObjectType(type)) return NOTHING;
  const selected = fieldsOf(type, below);
  const under = (field: GraphQLField<unknown, unknown>, inner: Below) =>
    rowSelection(getNamedType(field.type), inner, fieldsOf);
  if (!('nodes' in type.getFields())) {
    const fields = mergedFields(selected.map(([field, inner]) => [field.name, under(field, inner)]));
    return selected.some(([field]) => hasOwnResolver(field))
      ? { kind: 'fields', fields, isWhole: true }
      : { kind: 'fields', fields };
  }
  const rows = selected.flatMap(([field, inner]) => {
    const layer = getNamedType(field.type);
    if (field.name === 'nodes') return under(field, inner);
    if (field.name !== 'edges' || !isObjectType(layer)) return [];
    return fieldsOf(layer, inner).flatMap(([part, node]) => (part.name === 'node' ? under(part, node) : []));
  });
  return rows.reduce(merged, NOTHING);
}

function merged(a: FieldSelection, b: FieldSelection): FieldSelection {
  const fields = mergedFields([...a.fields, ...b.fields]);
  return a.isWhole || b.isWhole ? { kind: 'fields', fields, isWhole: true } : { kind: 'fields', fields };
}

/** Merges the selections of fields with the same name. */
function mergedFields(
  selected: readonly (readonly [name: string, selection: FieldSelection])[],
): ReadonlyMap<string, FieldSelection> {
  const fields = new Map<string, FieldSelection>();
  for (const [name, selection] of selected) {
    const other = fields.get(name);
    fields.set(name, other ? merged(other, selection) : selection);
  }
  return fields;
}

const selectedFieldsOf: FieldsOf<SelectedFields | undefined> = (_type, below) =>
  below?.fields.map(({ field, selection }) => [field, selection] as const) ?? [];

/** The selections of all rows in an operation, by {@link placeOf}. Selections of the same place are merged. */
export function selectionsByPlace(root: SelectedFields): ReadonlyMap<string, FieldSelection> {
  const places = new Map<string, FieldSelection>();
  const visit = ({ fields }: SelectedFields) => {
    for (const { field, coordinate, nodes, selection } of fields) {
      if (!selection) continue;
      const place = placeOf(coordinate, nodes[0]);
      const here = rowSelection(getNamedType(field.type), selection, selectedFieldsOf);
      const known = places.get(place);
      places.set(place, known ? merged(known, here) : here);
      visit(selection);
    }
  };
  visit(root);
  return places;
}
