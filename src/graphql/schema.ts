import 'reflect-metadata';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type GraphQLField,
  GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import type { Table } from '../database/reading/table';
import type { Catalogue } from '../errors/codes';
import type { ChangeEvent, EventFilter } from '../events/hub';
import { type Topics, tablesOf } from '../events/topics';
import { type EventAudience, visibleEvents } from './changes';
import { resolveDeclaredFields } from './declared-fields';
import { middlewareFaults, rejectAuthorized } from './decorator-faults';
import { describeSchema } from './descriptions';
import { defineDirectives } from './directives';
import { withTopics } from './event-enums';
import { enforceRateLimits } from './rate-limit-directive';
import { type IdForm, withIdForms } from './scalars';
import { tableFaults } from './table-faults';

/** The parts of a schema. */
export interface SchemaParts {
  readonly description: string;
  /** Instances of classes with type-graphql's decorators. */
  readonly resolvers: readonly object[];
  /** Forms of identifiers other than integers. */
  readonly idForms: readonly IdForm[];
  /** The error codes that fields may name. */
  readonly errors: Catalogue;
  /** The tables whose rows PostgreSQL can write as JSON. */
  readonly tables: readonly Table<object>[];
  /** The topics of events. {@link subscribe} accepts those with a table. */
  readonly topics: Topics;
  /** The source of subscriptions: returns the changes of a topic that pass a filter. */
  subscribe(topic: string, filter: EventFilter): AsyncIterable<ChangeEvent>;
}

type Constructor = new (...services: never[]) => object;

/**
 * Builds the schema, in which the rate limiter runs before every counted field.
 * @throws Error that lists all mismatches between the schema and the tables or topics.
 */
export function buildSchema(parts: SchemaParts): GraphQLSchema {
  const { description, resolvers, idForms, errors, topics, subscribe } = parts;
  rejectAuthorized();
  const tables = tablesOf(topics);
  const instances = new Map(resolvers.map((resolver) => [resolver.constructor as Constructor, resolver]));
  const build = (classes: NonEmptyArray<Constructor>, skipCheck = false) =>
    buildSchemaSync({
      resolvers: classes,
      container: instances,
      validate: false,
      pubSub: {
        subscribe: (topic, audience) => {
          const table = tables[topic];
          if (!table) throw new Error(`no domain has the topic ${topic}`);
          return subscribe(topic, visibleEvents(table, audience as EventAudience));
        },
        // Changes reach the hub from the database, not through type-graphql.
        publish: () => undefined,
      },
      skipCheck,
    });
  const classes = [...instances.keys()] as NonEmptyArray<Constructor>;
  // In the whole schema, type-graphql orders root fields by the import order of their classes. In a schema of a single
  // class, the root fields have the order of the methods. So the order comes from a separate schema for each class.
  const order = classes.flatMap((each) =>
    rootTypesOf(build([each], true)).flatMap((type) => Object.keys(type.getFields())),
  );
  const schema = inOrder(withTopics(withIdForms(build(classes), idForms), topics), order);
  resolveDeclaredFields(schema, parts.tables);
  checkDomain(schema, parts);
  return enforceRateLimits(describeSchema(defineDirectives(schema, errors), description));
}

/**
 * Checks that the tables and topics match the schema, and that type-graphql runs all decorators. A mismatch would cause
 * internal errors in requests.
 * @throws Error that lists all faults.
 */
function checkDomain(schema: GraphQLSchema, { tables, topics }: SchemaParts): void {
  const faults = [...tables.flatMap((table) => tableFaults(schema, table)), ...middlewareFaults(schema)];
  const byType = new Map(tables.map((table) => [table.type, table]));
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const table = byType.get(listedBy(field) ?? '');
      const lacks = (part: string, names: readonly string[], known: object) => {
        for (const name of names.filter((each) => !Object.hasOwn(known, each)))
          faults.push(`the table ${table?.name} has no ${part} ${name}, which ${type.name}.${field.name} offers`);
      };
      if (table) lacks('filter', inputNames(field, 'filter'), table.filters);
      if (table) lacks('order', sortNames(field), table.orders);
    }
  }
  for (const { name, extensions } of Object.values(schema.getSubscriptionType()?.getFields() ?? {}))
    if (!tablesOf(topics)[String(extensions.topic)])
      faults.push(`no domain has the topic ${extensions.topic} of the subscription ${name}`);
  if (faults.length) throw new Error(faults.join('; '));
}

type Field = GraphQLField<unknown, unknown>;

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

function rootTypesOf(schema: GraphQLSchema): GraphQLObjectType[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((type) => type != null);
}

/**
 * Sorts the root fields. All types except the root types are then ordered by the first field that refers to them.
 * @param order the names of the root fields in the wanted order.
 */
function inOrder(schema: GraphQLSchema, order: readonly string[]): GraphQLSchema {
  const ordered = mapSchema(schema, {
    [MapperKind.ROOT_OBJECT]: (type) => {
      const { fields, ...config } = type.toConfig();
      const sorted = Object.entries(fields).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
      return new GraphQLObjectType({ ...config, fields: Object.fromEntries(sorted) });
    },
    // Parameter decorators run from last to first. Reversing restores the order of the source: `updateThing(id, input)`.
    [MapperKind.MUTATION_ROOT_FIELD]: ({ args = {}, ...field }) => ({
      ...field,
      args: Object.fromEntries(Object.entries(args).reverse()),
    }),
  });
  // With an empty list, graphql-js collects the types in the order in which the fields refer to them.
  return new GraphQLSchema({ ...ordered.toConfig(), types: [] });
}
