import { Field, InterfaceType } from 'type-graphql';
import type { NodeType } from '../node-id';
import { Id } from '../scalars';

/** A row of one of the types, as the interface's resolvers return it. */
export interface TypedRow {
  readonly __typename: NodeType;
}

@InterfaceType({
  description: 'What `node` and `nodes` find again: anything with an identifier of its own across all types.',
  resolveType: ({ __typename }: TypedRow) => __typename,
})
export abstract class Node {
  @Field(() => Id, {
    description:
      'Identifies the object among those of all types, for clients that cache by it. It never changes. Opaque: do not take it apart, or make one.',
  })
  nodeId!: string;
}
