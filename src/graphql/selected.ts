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
import { type JsonFormat, type Member, NOTHING, type Selection } from '../database/reading/selection';
import type { Context } from './context';

/**
 * Injects what the field selects of each row; for a connection, of its nodes. Answers to an event share rows, so they are
 * read whole.
 */
export const Selected = () =>
  createParameterDecorator<Context>(({ info, context }) =>
    context.event ? wholeRow(getNamedType(info.returnType)) : selectionOf(info, context.request.api.json),
  );

/** All columns of a type's rows. */
const wholeRow = memoize1((type: GraphQLNamedType): Selection => {
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
  return { fields: new Map(leaves.map(({ name }) => [name, NOTHING])) };
});

/** Documents are compiled once and run many times, each with the same arrays of field nodes. */
const known = new WeakMap<readonly FieldNode[], Selection>();

/** @param json how the database may serialize the rows, if it may. */
export function selectionOf(info: GraphQLResolveInfo, json: JsonFormat | undefined): Selection {
  let selection = known.get(info.fieldNodes);
  if (!selection) {
    selection = new Reader(info, json).under(getNamedType(info.returnType), info.fieldNodes);
    known.set(info.fieldNodes, selection);
  }
  return selection;
}

/** Injects a function that says, by the name of one of the field's possible types, what it selects of rows of that type. */
export const SelectedByType = () =>
  createParameterDecorator<Context>(({ info, context }) => {
    const selections = knownByType.get(info.fieldNodes) ?? new Map<string, Selection>();
    knownByType.set(info.fieldNodes, selections);
    return (name: string) => {
      const reader = new Reader(info, context.request.api.json);
      const selection = selections.get(name) ?? reader.under(info.schema.getType(name), info.fieldNodes);
      selections.set(name, selection);
      return selection;
    };
  });

const knownByType = new WeakMap<readonly FieldNode[], Map<string, Selection>>();

class Reader {
  constructor(
    private readonly info: GraphQLResolveInfo,
    private readonly json: JsonFormat | undefined,
  ) {}

  /** What is selected under a field of this type. */
  under(type: unknown, nodes: readonly FieldNode[]): Selection {
    if (!isObjectType(type)) return NOTHING;
    return 'nodes' in type.getFields() ? this.ofPage(type, nodes) : this.ofRow(type, nodes);
  }

  private ofPage(type: GraphQLObjectType, nodes: readonly FieldNode[]): Selection {
    const rows: Selection[] = [];
    const layers = new Set<string>();
    for (const [name, inner] of this.fieldsOf(type, nodes)) {
      layers.add(name);
      const layer = getNamedType(type.getFields()[name]?.type);
      if (name === 'nodes') rows.push(this.under(layer, inner));
      if (name !== 'edges' || !isObjectType(layer)) continue;
      for (const [part, node] of this.fieldsOf(layer, inner))
        if (part === 'node') rows.push(this.under(getNamedType(layer.getFields().node?.type), node));
    }
    const [only, ...others] = rows;
    return {
      fields: merged(rows),
      // Rows that are selected in more than one way are read as columns.
      ...(only?.json && !others.length && { json: only.json }),
      // Edges take their cursors from the rows, even if no node is selected.
      isList: !layers.has('edges'),
      hasPageInfo: layers.has('pageInfo'),
    };
  }

  private ofRow(type: GraphQLObjectType, nodes: readonly FieldNode[]): Selection {
    const fields = new Map<string, Selection>();
    const members: Member[] = [];
    const selected = this.fieldsOf(type, nodes);
    // What is selected under several names is read once: the database must not repeat it in every row.
    let isSerializable = new Set(selected.map(([name]) => name)).size === selected.length;
    for (const [name, inner, key] of selected) {
      const field = type.getFields()[name];
      if (!field) {
        members.push({ key, constant: type.name });
        continue;
      }
      const named = getNamedType(field.type);
      const selection = this.under(named, inner);
      fields.set(name, { fields: merged([fields.get(name) ?? NOTHING, selection]) });
      members.push({ key, field: name, ...(selection.json && { json: selection.json }) });
      if (field.args.length || !(isLeafType(named) || selection.json)) isSerializable = false;
    }
    return { fields, ...(this.json && isSerializable && { json: { ...this.json, members } }) };
  }

  /** The selected fields by name, with their nodes and response key. */
  private fieldsOf(
    type: GraphQLObjectType,
    nodes: readonly FieldNode[],
  ): [name: string, nodes: readonly FieldNode[], key: string][] {
    const { schema, fragments, variableValues } = this.info;
    const { fields } = collectSubFields(schema, fragments, variableValues, type, [...nodes]);
    return [...fields].map(([key, inner]) => [inner[0]?.name.value ?? '', inner, key]);
  }
}

/** All the fields of several selections. */
function merged(selections: readonly Selection[]): Selection['fields'] {
  const fields = new Map<string, Selection>();
  for (const selection of selections)
    for (const [name, inner] of selection.fields)
      fields.set(name, { fields: merged([fields.get(name) ?? NOTHING, inner]) });
  return fields;
}
