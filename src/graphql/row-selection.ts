import { type GraphQLField, type GraphQLNamedType, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { type FieldSelection, NOTHING } from '../database/reading/selection';
import type { SelectedFields } from './cost';
import { hasOwnResolver, placeOf } from './declared-fields';

/** Returns the selected fields of an object, each with a description of the selection below it. */
type FieldsOf<Below> = (
  type: GraphQLObjectType,
  below: Below,
) => readonly (readonly [field: GraphQLField<unknown, unknown>, below: Below])[];

/**
 * The selection of the rows that a field of this type returns; for a connection, the selection of its nodes. A field with a
 * resolver of its own may need any column, so its row is read whole.
 */
export function rowSelection<Below>(
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
