import { type ClassType, Field, Int, ObjectType } from 'type-graphql';
import type { Connection } from '../../domain/connection';
import { ApiKey } from './api-key';
import { Category } from './category';
import { InventoryItem } from './inventory-item';
import { Order } from './order';
import { Pet } from './pet';

@ObjectType({ simpleResolvers: true, description: 'Where a page stands in its list.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether there is more after this page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether there is more before this page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'The cursor of the first edge, for `before`.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'The cursor of the last edge, for `after`.' })
  endCursor!: string | null;
}

/** The connection and edge types of a node type (GraphQL Cursor Connections Specification), with `nodes` and `totalCount`. */
function connectionOf<Node extends object>(NodeType: ClassType<Node>, name: string, plural: string) {
  @ObjectType(`${name}Edge`, {
    simpleResolvers: true,
    description: `One of a page of ${plural}, and where it stands.`,
  })
  class Edge {
    @Field(() => NodeType, { description: `The ${name} itself.` })
    node!: Node;

    @Field(() => String, {
      description: 'Where it stands in this list and order: opaque, for `after` and `before`.',
    })
    cursor!: string;
  }

  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: `A page of ${plural}.` })
  class ConnectionType implements Pick<Connection<Node>, 'totalCount'> {
    @Field(() => [Edge], { description: 'The page, with a cursor for each.' })
    edges!: Edge[];

    @Field(() => [NodeType], { description: 'The page, without cursors.' })
    nodes!: Node[];

    @Field(() => PageInfo, { description: 'Where the page stands, for the next and the previous one.' })
    pageInfo!: PageInfo;

    @Field(() => Int, { description: 'How many there are in all pages. Counted only when asked for.' })
    totalCount!: () => Promise<number>;
  }
  return ConnectionType;
}

export const PetConnection = connectionOf(Pet, 'Pet', 'pets');
export const CategoryConnection = connectionOf(Category, 'Category', 'categories');
export const OrderConnection = connectionOf(Order, 'Order', 'orders');
export const InventoryItemConnection = connectionOf(InventoryItem, 'InventoryItem', 'inventory entries');
export const ApiKeyConnection = connectionOf(ApiKey, 'ApiKey', 'API keys');
