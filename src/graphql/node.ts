import { Field, InterfaceType } from 'type-graphql';
import { Id } from './scalars';

@InterfaceType({
  description:
    'An object with an identifier that is unique across all types. `node` and `nodes` find objects by this identifier.',
  resolveType: ({ __typename }: TypedRow) => __typename,
})
export abstract class Node {
  @Field(() => Id, {
    description:
      'An identifier that is unique across all types, for the caches of clients. It never changes. It is opaque: do not parse or construct it.',
  })
  nodeId!: string;
}

/** A row with the name of its type. Fields that return an interface or union need the name. */
export interface TypedRow {
  readonly __typename: string;
}

/** Adds the name of the type to a row, since rows are plain objects and GraphQL must know their type. */
export function typed(row: object, type: string): TypedRow {
  return Object.assign(row, { __typename: type });
}
