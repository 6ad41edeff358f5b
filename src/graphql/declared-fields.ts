import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isObjectType,
  print,
  TypeNameMetaFieldDef,
} from 'graphql';
import { selectByIds } from '../database/reading/select';
import { type FieldSelection, NOTHING } from '../database/reading/selection';
import { type Computed, idOrderOf, type Pages, type Relation, type Table } from '../database/reading/table';
import { readConnections } from './connection';
import type { Context } from './context';
import { type ListArgs, pageOf } from './page-args';

type Row = Readonly<Record<string, unknown>>;
type Resolver = GraphQLFieldResolver<Row, Context>;

/** The part of a table's declaration that a resolver is made from; `derived` is computed without a statement. */
type Part = 'relation' | 'pages' | 'computed' | 'derived';

/** The resolvers that are made from the declarations of tables. */
const made = new WeakMap<GraphQLFieldResolver<never, never>, Part>();

/** The part of a table's declaration from which the resolver of a field is made; `undefined` for other resolvers. */
export function declaredPart({ resolve }: GraphQLField<unknown, unknown>): Part | undefined {
  return resolve && made.get(resolve);
}

/**
 * Whether a field has a resolver of its own. Only graphql-js can run such a field. PostgreSQL can write all other fields: fields
 * that are made from the declaration of a table, and fields that the default resolver reads.
 */
export function hasOwnResolver(field: GraphQLField<unknown, unknown>): boolean {
  const { resolve } = field;
  return (
    resolve !== undefined && resolve !== defaultFieldResolver && !made.has(resolve) && field !== TypeNameMetaFieldDef
  );
}

/**
 * Adds resolvers to the fields that are relations, pages or computed columns of the tables. A field that already has a resolver
 * keeps that resolver. Modifies the schema.
 */
export function resolveDeclaredFields(schema: GraphQLSchema, tables: readonly Table<object>[]): void {
  for (const table of tables) {
    const type = schema.getType(table.type);
    if (!isObjectType(type)) continue;
    const fields = type.getFields();
    const resolve = (name: string, part: Part, resolver: Resolver) => {
      const field = fields[name];
      if (!field || hasOwnResolver(field)) return;
      made.set(resolver, part);
      field.resolve = resolver;
    };
    for (const [name, relation] of Object.entries(table.relations))
      resolve(name, 'relation', relationResolver(name, relation));
    for (const [name, pages] of Object.entries(table.pages ?? {})) resolve(name, 'pages', pagesResolver(table, pages));
    for (const [name, column] of Object.entries(table.computed ?? {}))
      resolve(name, column.of ? 'derived' : 'computed', computedResolver(table, name, column));
  }
}

/**
 * The name of a selected field, with its arguments: `Pet.orders(first: 2)`. Fields of the same name and arguments share their
 * reads within an operation.
 */
export function placeOf(coordinate: string, node: FieldNode | undefined): string {
  const args = node?.arguments ?? [];
  return args.length ? `${coordinate}(${args.map(print).join(' ')})` : coordinate;
}

const places = new WeakMap<readonly FieldNode[], string>();

/** graphql-js passes the same array of nodes for all parents of a selection. */
function placeIn({ fieldNodes, parentType, fieldName }: GraphQLResolveInfo): string {
  let place = places.get(fieldNodes);
  if (place === undefined) {
    place = placeOf(`${parentType.name}.${fieldName}`, fieldNodes[0]);
    places.set(fieldNodes, place);
  }
  return place;
}

/** Returns the related row if the statement that read the parent has joined it. Otherwise a loader reads it. */
function relationResolver(name: string, { field, join, table }: Relation): Resolver {
  const required = join === 'left' ? undefined : name;
  return (row, _args, context, info) => {
    const joined = row[name];
    if (joined !== undefined) return joined;
    const id = row[field] as bigint | null;
    if (id === null) return null;
    const place = placeIn(info);
    const read = (ids: readonly bigint[]) => selectByIds(context.session, table(), ids, context.selectionAt(place));
    return context.loaders.load(place, id, read, required);
  };
}

function pagesResolver({ idOf }: Table<object>, { field, table }: Pages): Resolver {
  return (row, args: ListArgs, context, info) => {
    const place = placeIn(info);
    const read = (ids: readonly bigint[]) => {
      const other = table();
      const page = pageOf(args, idOrderOf(other));
      return readConnections(context.session, other, field, ids, page, args.filter, context.selectionAt(place));
    };
    return context.loaders.load(place, idOf(row), read);
  };
}

/** Returns the value if the statement that read the row has computed it. Otherwise it is computed from the row, or read. */
function computedResolver(table: Table<object>, name: string, { of, ofGone }: Computed): Resolver {
  if (of) return (row) => of(table.idOf(row));
  const selection: FieldSelection = { kind: 'fields', fields: new Map([[name, NOTHING]]) };
  return async (row, _args, { loaders, session }, info) => {
    if (row[name] !== undefined) return row[name];
    const read = (ids: readonly bigint[]) => selectByIds(session, table, ids, selection);
    const found = (await loaders.load(placeIn(info), table.idOf(row), read)) as Row | undefined;
    return found ? found[name] : ofGone;
  };
}
