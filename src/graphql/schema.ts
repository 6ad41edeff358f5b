import 'reflect-metadata';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import type { Catalogue } from '../errors/codes';
import type { ChangeEvent } from '../events/hub';
import { describeSchema } from './descriptions';
import { defineDirectives } from './directives';
import { enforceRateLimits } from './rate-limit-directive';
import { declareIdForms, type IdForm, refuseOtherIds } from './scalars';

/** Whether an event passes a subscriber's filter. */
export type Passes = (event: ChangeEvent) => boolean;

/** What a schema is built of. */
export interface SchemaParts {
  readonly description: string;
  /** Instances of classes with type-graphql's decorators. */
  readonly resolvers: readonly object[];
  /** Forms of identifiers beside integers. */
  readonly idForms: readonly IdForm[];
  /** The error codes that fields may name. */
  readonly errors: Catalogue;
  /** Subscribes to the changes of a topic that pass a filter: what the subscriptions are made of. */
  subscribe(topic: string, passes: Passes): AsyncIterable<ChangeEvent>;
}

type Constructor = new (...services: never[]) => object;

/** Builds the schema, with the rate limiter in front of every counted field. */
export function buildSchema({ description, resolvers, idForms, errors, subscribe }: SchemaParts): GraphQLSchema {
  declareIdForms(idForms);
  const instances = new Map(resolvers.map((resolver) => [resolver.constructor as Constructor, resolver]));
  const build = (classes: NonEmptyArray<Constructor>, skipCheck = false) =>
    buildSchemaSync({
      resolvers: classes,
      container: instances,
      // Checked in all arguments, unless an argument has a check of its own.
      validateFn: refuseOtherIds,
      pubSub: {
        subscribe: (topic, passes) => subscribe(topic, passes as Passes),
        publish: () => undefined,
      },
      skipCheck,
    });
  const classes = [...instances.keys()] as NonEmptyArray<Constructor>;
  // The root fields of a single resolver are in the order of its methods, those of several in the order of imports.
  const order = classes.flatMap((each) =>
    rootTypesOf(build([each], true)).flatMap((type) => Object.keys(type.getFields())),
  );
  const schema = inOrder(build(classes), order);
  return enforceRateLimits(describeSchema(defineDirectives(schema, errors), description));
}

function rootTypesOf(schema: GraphQLSchema): GraphQLObjectType[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((type) => type != null);
}

/** @param order the names of the root fields. Types follow in the order in which fields lead to them. */
function inOrder(schema: GraphQLSchema, order: readonly string[]): GraphQLSchema {
  const ordered = mapSchema(schema, {
    [MapperKind.ROOT_OBJECT]: (type) => {
      const { fields, ...config } = type.toConfig();
      const sorted = Object.entries(fields).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
      return new GraphQLObjectType({ ...config, fields: Object.fromEntries(sorted) });
    },
    // Decorators of parameters run last to first, but readers expect `updateThing(id, input)`.
    [MapperKind.MUTATION_ROOT_FIELD]: ({ args = {}, ...field }) => ({
      ...field,
      args: Object.fromEntries(Object.entries(args).reverse()),
    }),
  });
  // Without a list of types graphql-js finds them by following the fields.
  return new GraphQLSchema({ ...ordered.toConfig(), types: [] });
}
