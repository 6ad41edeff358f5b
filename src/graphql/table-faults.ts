import { type GraphQLSchema, getNamedType, isNonNullType, isObjectType } from 'graphql';
import type { Filter, Table } from '../database/reading/table';
import { columnFault } from './column-types';
import { listSizeOf } from './cost-directives';
import { hasOwnResolver } from './declared-fields';

/** All mismatches between a table and its GraphQL type, and all contradictions within the table. */
export function tableFaults(schema: GraphQLSchema, table: Table<object>): string[] {
  const { name: tableName, type: typeName, columns, relations, pages = {}, computed = {}, filters, owner } = table;
  const faults: string[] = [];
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return [`the schema has no object type ${typeName}, which the table ${tableName} names`];
  const fields = type.getFields();
  for (const name of [...Object.keys(relations), ...Object.keys(pages), ...Object.keys(computed)])
    if (!fields[name]) faults.push(`the type ${typeName} has no field ${name}, which the table ${tableName} has`);
  for (const field of Object.values(fields)) {
    const { name } = field;
    const fault = columnFault(table, `${typeName}.${name}`, field);
    if (fault) faults.push(fault);
    if (![columns, relations, pages, computed].some((parts) => Object.hasOwn(parts, name)) && !hasOwnResolver(field))
      faults.push(
        `${typeName}.${name} has no resolver, and the table ${tableName} no column, relation or pages ${name}`,
      );
  }
  for (const [name, { field, join, table: related }] of Object.entries(relations)) {
    if (!fields[name]) continue;
    const { type } = fields[name];
    const other = related();
    const what = `the relation ${name} of the table ${tableName}`;
    const gives = getNamedType(type).name;
    if (gives !== other.type) faults.push(`${typeName}.${name} is ${gives}, but ${what} leads to ${other.type}`);
    if (!columns[field]) faults.push(`${what} uses the field ${field}, which is not a column`);
    if (join === 'left' ? isNonNullType(type) : columns[field]?.isNullable)
      faults.push(`${what} may be null: its join must be left, and ${typeName}.${name} nullable`);
    if (other.owner && join !== 'left')
      faults.push(`${what} leads to rows with owners, which a caller may not see: its join must be left`);
  }
  for (const [name, { field, table: listed }] of Object.entries(pages)) {
    if (!fields[name]) continue;
    const other = listed();
    const what = `the pages ${name} of the table ${tableName}`;
    const connection = getNamedType(fields[name].type);
    const nodes = isObjectType(connection) ? connection.getFields().nodes : undefined;
    if (!nodes || getNamedType(nodes.type).name !== other.type)
      faults.push(`${typeName}.${name} is ${connection.name}, but ${what} list ${other.type}`);
    if (!listSizeOf(fields[name])?.sizedFields)
      faults.push(`${typeName}.${name} has no page size: declare it with @PageOf`);
    if (other.columns[field]?.kind !== 'id')
      faults.push(`${what} use the field ${field} of ${other.name}, which is not an id`);
  }
  for (const [name, filter] of Object.entries(filters)) {
    const fault = filterFault(table, filter);
    if (fault) faults.push(`the filter ${name} of the table ${tableName} ${fault}`);
  }
  const owned = owner && columns[owner.column];
  if (owner && (owned?.kind !== 'text' || !owned.isNullable))
    faults.push(`the owner of the table ${tableName} must be a nullable text column, but ${owner.column} is not`);
  return faults;
}

function filterFault({ orders, joins }: Table<object>, filter: Filter): string | undefined {
  if (filter.kind === 'ids') return undefined;
  const { sql, kind } = filter.column;
  if (kind === 'other') return `cannot compare ${sql}, which is of the kind other`;
  if (filter.kind === 'name' && kind !== 'text') return `searches ${sql}, which is not a text`;
  if (filter.kind === 'joined' && !joins) return `needs a joined table, but the table has no joins`;
  if (filter.kind !== 'atMost' && filter.kind !== 'atLeast') return undefined;
  if (kind !== 'integer') return `needs an integer, but ${sql} is of the kind ${kind}`;
  return orders[filter.order]?.column.sql === sql
    ? undefined
    : `needs an order by ${sql}, which ${filter.order} is not`;
}
