import 'reflect-metadata';
import { type GraphQLArgument, type GraphQLSchema, isObjectType } from 'graphql';
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
  const built = buildSchemaSync({
    resolvers: [...instances.keys()] as NonEmptyArray<Constructor>,
    container: instances,
    // Checked in all arguments, unless an argument has a check of its own.
    validateFn: refuseOtherIds,
    pubSub: {
      subscribe: (topic, passes) => subscribe(topic, passes as Passes),
      publish: () => undefined,
    },
  });
  // Rows are plain objects, instances of no class; what interfaces return says its type.
  for (const type of Object.values(built.getTypeMap())) if (isObjectType(type)) type.isTypeOf = undefined;
  const schema = enforceRateLimits(describeSchema(defineDirectives(built, errors), description));
  // Parameter decorators are evaluated last to first, but readers expect `updateThing(id, input)`.
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    (field.args as GraphQLArgument[]).reverse();
  }
  return schema;
}
