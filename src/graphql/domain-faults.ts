import {
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import type { Table } from '../database/reading/table';
import { type Topics, tablesOf } from '../events/topics';
import { listSizeOf } from './cost-directives';
import { tableFaults } from './table-faults';

/** All mismatches between the schema and the tables and topics of the domains. */
export function domainFaults(
  schema: GraphQLSchema,
  { tables, topics }: { readonly tables: readonly Table<object>[]; readonly topics: Topics },
): string[] {
  const byType = new Map(tables.map((table) => [table.type, table]));
  const faults = tables.flatMap((table) => tableFaults(schema, table));
  const ofTopics = tablesOf(topics);
  const used = [...tables.flatMap(tablesNextTo), ...Object.values(ofTopics)];
  for (const { name, type } of new Set(used))
    if (!byType.has(type)) faults.push(`no domain has the table ${name} of the type ${type} among its tables`);
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType))
    for (const field of Object.values(type.getFields())) faults.push(...fieldFaults(type.name, field, byType));
  for (const { name, extensions } of Object.values(schema.getSubscriptionType()?.getFields() ?? {}))
    if (!ofTopics[String(extensions.topic)])
      faults.push(`no domain has the topic ${extensions.topic} of the subscription ${name}`);
  return faults;
}

/** The tables to which the relations and pages of a table lead. */
function tablesNextTo({ relations, pages = {} }: Table<object>): Table<object>[] {
  return [...Object.values(relations), ...Object.values(pages)].map(({ table }) => table());
}

type Field = GraphQLField<unknown, unknown>;

function fieldFaults(type: string, field: Field, tables: ReadonlyMap<string, Table<object>>): string[] {
  const faults: string[] = [];
  const coordinate = `${type}.${field.name}`;
  const listed = listedBy(field);
  const rows = listed ?? getNamedType(field.type).name;
  if (field.extensions.isSelected && !tables.has(rows))
    faults.push(`no domain has a table of the type ${rows}, whose rows ${coordinate} selects`);
  if (listSizeOf(field)?.sizedFields && !field.resolve && !tables.has(type))
    faults.push(`${coordinate} has no resolver, and no domain has a table of the type ${type}`);
  const table = tables.get(listed ?? '');
  if (!table) return faults;
  const lacks = (part: string, names: readonly string[], known: object) => {
    for (const name of names.filter((each) => !Object.hasOwn(known, each)))
      faults.push(`the table ${table.name} has no ${part} ${name}, which ${coordinate} offers`);
  };
  lacks('filter', inputNames(field, 'filter'), table.filters);
  lacks('order', sortNames(field), table.orders);
  return faults;
}

/** The name of the node type of a connection field; `undefined` for other fields. */
function listedBy({ type }: Field): string | undefined {
  const connection = getNamedType(type);
  const nodes = isObjectType(connection) && connection.getFields().nodes;
  return nodes ? getNamedType(nodes.type).name : undefined;
}

/** The fields of the input type of an argument. */
function inputNames({ args }: Field, name: string): string[] {
  const type = getNamedType(args.find((arg) => arg.name === name)?.type);
  return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

/** The sort orders that a field offers. */
function sortNames({ args }: Field): string[] {
  const orderBy = getNamedType(args.find(({ name }) => name === 'orderBy')?.type);
  const fields = isInputObjectType(orderBy) && getNamedType(orderBy.getFields().field?.type);
  return isEnumType(fields) ? fields.getValues().map(({ name }) => name) : [];
}
