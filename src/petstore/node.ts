import { Field, InterfaceType } from 'type-graphql';
import { Id } from '../graphql/scalars';
import type { NodeType } from './node-id';

/** A row of one of the types, as the interface's resolvers return it. */
export interface TypedRow {
  readonly __typename: NodeType;
}

@InterfaceType({
  description:
    'An object with an identifier that is unique across all types, by which `node` and `nodes` find it again.',
  resolveType: ({ __typename }: TypedRow) => __typename,
})
export abstract class Node {
  @Field(() => Id, {
    description:
      'Identifies the object among those of all types, for clients that cache by it. It never changes. Opaque: do not take it apart, or make one.',
  })
  nodeId!: string;
}
