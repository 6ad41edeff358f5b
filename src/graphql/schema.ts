import 'reflect-metadata';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { assertValidSchema, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { buildSchemaSync, getMetadataStorage, type NonEmptyArray } from 'type-graphql';
import type { Table } from '../database/reading/table';
import type { Catalogue } from '../errors/codes';
import type { ChangeEvent, EventFilter } from '../events/hub';
import { type Topics, tablesOf } from '../events/topics';
import { type EventAudience, visibleEvents } from './changes';
import { resolveDeclaredFields } from './declared-fields';
import { middlewareFaults, rejectAuthorized, scopeFaults } from './decorator-faults';
import { describeSchema } from './descriptions';
import { defineDirectives } from './directives';
import { domainFaults } from './domain-faults';
import { withTopics } from './event-enums';
import { enforceRateLimits } from './rate-limit-directive';
import { type IdForm, withIdForms } from './scalars';

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
  /** The topics of events. {@link subscribe} accepts topics with a table. */
  readonly topics: Topics;
  /** The source of subscriptions: returns the changes of a topic that pass a filter. */
  subscribe(topic: string, filter: EventFilter): AsyncIterable<ChangeEvent>;
}

type Constructor = new (...services: never[]) => object;

/**
 * Builds the schema, in which the rate limiter runs before every counted field.
 * @throws Error that lists all mismatches between the schema and the tables or topics, and the decorators that type-graphql
 * ignores.
 */
export function buildSchema(parts: SchemaParts): GraphQLSchema {
  const { description, resolvers, idForms, errors, topics, subscribe } = parts;
  rejectAuthorized();
  const tables = tablesOf(topics);
  const instances = new Map(resolvers.map((resolver) => [resolver.constructor as Constructor, resolver]));
  const classes = [...instances.keys()] as NonEmptyArray<Constructor>;
  const built = buildSchemaSync({
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
    // type-graphql's check runs a whole introspection query.
    skipCheck: true,
  });
  assertValidSchema(built);
  const schema = inOrder(withTopics(withIdForms(built, idForms), topics), rootFieldsOf(classes));
  resolveDeclaredFields(schema, parts.tables);
  // A mismatch would cause internal errors in requests, or values that are always null.
  const faults = [...domainFaults(schema, parts), ...middlewareFaults(schema), ...scopeFaults(schema)];
  if (faults.length) throw new Error(faults.join('; '));
  return enforceRateLimits(describeSchema(defineDirectives(schema, errors), description));
}

/** The names of the root fields, in the order of the classes and their methods. type-graphql uses the import order of the classes. */
function rootFieldsOf(classes: readonly Constructor[]): string[] {
  const { queries, mutations, subscriptions } = getMetadataStorage();
  const fields = [...queries, ...mutations, ...subscriptions];
  return classes.flatMap((each) => fields.filter(({ target }) => target === each).map(({ schemaName }) => schemaName));
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
