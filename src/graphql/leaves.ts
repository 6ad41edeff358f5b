import {
  type DocumentNode,
  type FieldNode,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
} from 'graphql';
import { JsonText } from '../database/reading/json-text';
import { isReadInOrder } from '../database/reading/page-statement';
import type {
  EdgeMember,
  JsonFormat,
  Nested,
  PageInfoMember,
  PageJson,
  PageMember,
  RowJson,
  RowMember,
} from '../database/reading/selection';
import { idOrderOf, readWithRow, type Table } from '../database/reading/table';
import type { OperationSource } from '../errors/input-checks';
import { isWritable } from './column-types';
import { pageQuery } from './connection';
import type { Leaf } from './context';
import { hasOwnResolver } from './declared-fields';
import { type ListArgs, pageOf } from './page-args';
import type { SelectedField, SelectedFields } from './selected';

/**
 * Replaces the plain root fields of queries by leaves. A root field is plain if PostgreSQL can write its whole subtree as JSON.
 * This is the case if every field below it is declared by a table, or is read by the default resolver from a column whose value
 * PostgreSQL writes in the same way as graphql-js. A field with a resolver of its own is never part of a leaf. A leaf is a
 * hidden field of a separate execution schema. It has the arguments and the resolver of the root field, but the resolver
 * returns JSON, so graphql-js completes only one value. Documents are validated against the schema without leaves, so clients
 * can neither select nor discover leaves.
 */

/** The tables whose rows PostgreSQL can write as JSON, by the name of their GraphQL type. */
export type Tables = ReadonlyMap<string, Table<object>>;

const SUFFIX = '__json';

const Json = new GraphQLScalarType({
  name: 'Json__',
  serialize: (value) => {
    if (value instanceof JsonText || Object.getPrototypeOf(value) === null) return value;
    throw new Error(
      'A resolver did not return JSON: it must read its rows with the selection that @Selected() passes to it.',
    );
  },
});

/**
 * The schema with a hidden leaf for each field of the type `Query` that returns rows of a table, and whose resolver gets a
 * selection.
 */
export function schemaWithLeaves(schema: GraphQLSchema, tables: Tables): GraphQLSchema {
  const query = schema.getQueryType();
  if (!query) return schema;
  const config = query.toConfig();
  const leaves = Object.entries(config.fields).flatMap(([name, field]) => {
    if (!field.extensions?.isSelected || !tableOf(field.type, tables)) return [];
    return [[name + SUFFIX, { ...field, type: isNonNullType(field.type) ? new GraphQLNonNull(Json) : Json }] as const];
  });
  const fields = { ...config.fields, ...Object.fromEntries(leaves) };
  const { types, ...others } = schema.toConfig();
  return new GraphQLSchema({
    ...others,
    types: types.filter((type) => type !== query),
    query: new GraphQLObjectType({ ...config, fields }),
  });
}

/** The table of the rows that a field returns, either a single row or a page of rows. */
function tableOf(type: GraphQLOutputType, tables: Tables): Table<object> | undefined {
  const named = getNamedType(type);
  if (isListType(getNullableType(type)) || !isObjectType(named)) return undefined;
  const nodes = named.getFields().nodes;
  return tables.get(nodes ? getNamedType(nodes.type).name : named.name);
}

/** An operation whose plain root fields are replaced by leaves. */
export interface Rewritten {
  readonly document: DocumentNode;
  /** The leaves, by the response key of their root field. */
  readonly leaves: ReadonlyMap<string, Leaf>;
  /** The pages nested in leaves. Their arguments are checked before anything runs. */
  readonly pages: readonly NestedPage[];
}

/** A page that is nested in a row. */
interface NestedPage {
  readonly page: PageJson;
  readonly table: Table<object>;
  readonly field: SelectedField;
}

/** Replaces the plain root fields of a query by leaves. @returns `undefined` if no field is replaced. */
export function rewrite(
  { node, fragments }: OperationSource,
  root: SelectedFields,
  tables: Tables,
  format: JsonFormat,
): Rewritten | undefined {
  if (node.operation !== 'query') return undefined;
  const reader = new TreeReader(tables, format);
  const leaves = new Map<string, Leaf>();
  const nodes = root.fields.flatMap((field): readonly FieldNode[] => {
    const leaf = reader.leaf(field);
    if (!leaf) return field.nodes;
    leaves.set(field.key, leaf);
    return field.nodes.map(({ name, selectionSet: _, directives: __, ...node }): FieldNode => {
      const alias = { kind: Kind.NAME, value: field.key } as const;
      return { ...node, alias, name: { ...name, value: name.value + SUFFIX } };
    });
  });
  // Introspection in the same operation would show the hidden fields of the execution schema.
  if (!leaves.size || root.fields.some(({ field }) => field.name === '__schema' || field.name === '__type'))
    return undefined;
  const operation = { ...node, selectionSet: { ...node.selectionSet, selections: nodes } };
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...Object.values(fragments)] };
  return { document, leaves, pages: reader.pages };
}

/**
 * The queries that read the nested pages.
 * @returns `undefined` if there is a page whose rows no index returns in order. Resolvers then read the pages of all parents in
 * one statement.
 * @throws ProblemError `BAD_USER_INPUT` for invalid arguments.
 */
export function nestedPages(
  pages: readonly NestedPage[],
  variables: Readonly<Record<string, unknown>>,
): Nested | undefined {
  const nested = new Map();
  for (const { page, table, field } of pages) {
    const args = getArgumentValues(field.field, field.nodes[0] as FieldNode, variables) as ListArgs;
    const query = pageQuery(table, pageOf(args, idOrderOf(table)), args.filter);
    if (!isReadInOrder(table, query)) return undefined;
    nested.set(page, query);
  }
  return nested;
}

/** Thrown, and caught in this file, if PostgreSQL cannot write a selection as JSON. */
class NotPlain extends Error {}
const NOT_PLAIN = new NotPlain();

class TreeReader {
  readonly pages: NestedPage[] = [];

  constructor(
    private readonly tables: Tables,
    private readonly format: JsonFormat,
  ) {}

  /** What PostgreSQL writes for a root field; `undefined` if the field is not plain. */
  leaf({ field, selection }: SelectedField): Leaf | undefined {
    const table = tableOf(field.type, this.tables);
    if (!table || !selection || !field.extensions.isSelected) return undefined;
    const known = this.pages.length;
    try {
      return isPageType(field.type)
        ? { kind: 'page-json', page: this.page(table, selection) }
        : { kind: 'row-json', row: this.row(table, selection) };
    } catch (error) {
      if (error !== NOT_PLAIN) throw error;
      this.pages.length = known;
      return undefined;
    }
  }

  private row(table: Table<object>, { fields }: SelectedFields): RowJson {
    const texts = new Set<string>();
    const members = fields.map((selected): RowMember => {
      const { key, field, selection } = plain(selected);
      if (field.name === '__typename') return { kind: 'constant', key, constant: table.type };
      if (!selection) {
        if (field.args.length || !isWritable(table, field) || texts.has(field.name)) throw NOT_PLAIN;
        // A text or hash must not be selected under several aliases, since the database would write it several times in every
        // row.
        const isExpensive = table.columns[field.name]?.kind === 'text' || readWithRow(table).includes(field.name);
        if (isExpensive) texts.add(field.name);
        return { kind: 'column', key, column: field.name };
      }
      const relation = table.relations[field.name];
      if (relation && !field.args.length)
        return { kind: 'relation', key, relation: field.name, row: this.row(relation.table(), selection) };
      const pages = table.pages?.[field.name];
      if (!pages || !isPageType(field.type)) throw NOT_PLAIN;
      const other = pages.table();
      const page = this.page(other, selection);
      this.pages.push({ page, table: other, field: selected });
      return { kind: 'pages', key, pages: field.name, page };
    });
    // The SQL writes a comma before every member but the first, so the first member must never be omitted.
    const [first] = members;
    const isSure = first?.kind === 'constant' || (first?.kind === 'column' && first.column === table.idField);
    if (this.format.nulls === 'omitted' && !isSure) throw NOT_PLAIN;
    return { ...this.format, members };
  }

  private page(table: Table<object>, { fields }: SelectedFields): PageJson {
    const members = fields.map((selected): PageMember => {
      const { key, field, coordinate, selection } = plain(selected);
      const inside = selection?.fields ?? [];
      switch (field.name) {
        case '__typename':
          return { kind: 'constant', key, constant: coordinate.split('.')[0] ?? '' };
        case 'nodes':
          return { kind: 'nodes', key, row: this.row(table, { fields: inside }) };
        case 'edges':
          return { kind: 'edges', key, members: inside.map((each) => this.edge(table, each)) };
        case 'pageInfo':
          return { kind: 'page-info', key, members: inside.map(pageInfoMember) };
        case 'totalCount':
          return { kind: 'total-count', key };
        case 'totalCountRelation':
          return { kind: 'total-relation', key };
        default:
          throw NOT_PLAIN;
      }
    });
    return { members };
  }

  private edge(table: Table<object>, selected: SelectedField): EdgeMember {
    const { key, field, coordinate, selection } = plain(selected);
    if (field.name === '__typename') return { kind: 'constant', key, constant: coordinate.split('.')[0] ?? '' };
    if (field.name === 'cursor') return { kind: 'cursor', key };
    if (field.name === 'node' && selection) return { kind: 'node', key, row: this.row(table, selection) };
    throw NOT_PLAIN;
  }
}

/** @throws NOT_PLAIN if the field has a resolver of its own. */
function plain(selected: SelectedField): SelectedField {
  if (hasOwnResolver(selected.field)) throw NOT_PLAIN;
  return selected;
}

function pageInfoMember(selected: SelectedField): PageInfoMember {
  const { key, field, coordinate } = plain(selected);
  const { name } = field;
  if (name === '__typename') return { kind: 'constant', key, constant: coordinate.split('.')[0] ?? '' };
  if (name === 'hasNextPage' || name === 'hasPreviousPage' || name === 'startCursor' || name === 'endCursor')
    return { kind: 'info', key, info: name };
  throw NOT_PLAIN;
}

function isPageType(type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  return isObjectType(named) && 'nodes' in named.getFields();
}
