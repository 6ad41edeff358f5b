import { Args, type ClassType, Field, Int, ObjectType } from 'type-graphql';
import { MOST_COUNTED } from '../database/reading/count';
import type { Connection } from './connection';
import { Paged, WEIGHTS, Weighs } from './cost-directives';
import { nullable } from './directives';
import { CountRelation } from './enums';

@ObjectType({ simpleResolvers: true, description: "A page's position in its list." })
class PageInfo {
  @Field(() => Boolean, { description: 'Whether there are items after this page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether there are items before this page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, nullable('The cursor of the first edge, for `before`.'))
  startCursor!: string | null;

  @Field(() => String, nullable('The cursor of the last edge, for `after`.'))
  endCursor!: string | null;
}

/**
 * Creates a connection type and its edge type (GraphQL Cursor Connections Specification). In addition, the connection has
 * `nodes` and a count.
 */
export function connectionOf<Node extends object>(NodeType: ClassType<Node>, name: string, plural: string) {
  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: `A page of ${plural}.` })
  class ConnectionType
    extends pageOf(NodeType, name, plural)
    implements Pick<Connection<Node>, 'totalCount' | 'totalCountRelation'>
  {
    @Weighs(WEIGHTS.count)
    @Field(() => Int, {
      description: `The number of items on all pages, up to ${MOST_COUNTED}. Counted only when requested.`,
    })
    totalCount!: () => Promise<number>;

    @Weighs(WEIGHTS.count)
    @Field(() => CountRelation, {
      description:
        'Whether `totalCount` is exact, or there are more items. Selecting both fields counts the items only once.',
    })
    totalCountRelation!: () => Promise<keyof typeof CountRelation>;
  }
  return ConnectionType;
}

/** Creates a connection type without a count. */
export function uncountedConnectionOf<Node extends object>(NodeType: ClassType<Node>, name: string, plural: string) {
  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: `A page of ${plural}.` })
  class ConnectionType extends pageOf(NodeType, name, plural) {}
  return ConnectionType;
}

function pageOf<Node extends object>(NodeType: ClassType<Node>, name: string, plural: string) {
  @ObjectType(`${name}Edge`, { simpleResolvers: true, description: `An item of a page of ${plural}, with its cursor.` })
  class Edge {
    @Field(() => NodeType, { description: 'The item itself.' })
    node!: Node;

    @Field(() => String, {
      description: 'An opaque cursor for `after` and `before`. It is valid only for this list and this sort order.',
    })
    cursor!: string;
  }

  @ObjectType({ simpleResolvers: true, description: `A page of ${plural}.` })
  abstract class PageType {
    @Field(() => [Edge], { description: 'The items of the page, with cursors.' })
    edges!: Edge[];

    @Field(() => [NodeType], { description: 'The items of the page, without cursors.' })
    nodes!: Node[];

    @Field(() => PageInfo, { description: 'The cursors and flags for requesting the next and previous pages.' })
    pageInfo!: PageInfo;
  }
  return PageType;
}

/**
 * Declares a field that returns one page of the rows in `Table.pages`. Its resolver is made from this declaration.
 * @param args the class of its arguments.
 */
export function PageOf(
  connection: () => ClassType,
  args: () => ClassType,
  description: string,
): (prototype: object, name: string) => void {
  return (prototype, name) => {
    Paged('first', 'last')(prototype, name, {});
    Field(connection, { description })(prototype, name);
    Args(args)(prototype, name, 0);
  };
}
