import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { badInput } from '../errors/domain-error';
import { MAX_PAGE } from '../graphql/connection';
import type { Context } from '../graphql/context';
import { Sized } from '../graphql/cost-directives';
import { Counted, Requires } from '../graphql/directives';
import { Errors } from '../graphql/errors-directive';
import { nullable } from '../graphql/nullable';
import { type AnyId, acceptOtherIds, Id } from '../graphql/scalars';
import { SelectedByType } from '../graphql/selected';
import { Node } from './node';
import { NodeId, type NodeType } from './node-id';
import type { SelectionOf, TypedRows } from './typed-rows';

@Resolver(() => Node)
export class NodeResolver {
  constructor(private readonly rows: TypedRows) {}

  @Counted()
  @Requires('READ')
  @Errors('BAD_USER_INPUT')
  @Query(() => Node, nullable('The object with this `nodeId`; null if there is none.'))
  async node(
    @Arg('id', () => Id, { description: 'A `nodeId`.', validateFn: acceptOtherIds }) id: AnyId,
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    const [found] = await this.rows.find(
      session,
      nodeIdsIn([id], () => 'id'),
      selectionOf,
    );
    return found;
  }

  @Counted()
  @Requires('READ')
  @Errors('BAD_USER_INPUT')
  @Sized('ids')
  @Query(() => [Node], {
    nullable: 'items',
    description: 'The objects with these `nodeId`s, in the same order; null in place of those that do not exist.',
  })
  nodes(
    @Arg('ids', () => [Id], { description: `At most ${MAX_PAGE} \`nodeId\`s.`, validateFn: acceptOtherIds })
    ids: AnyId[],
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    if (ids.length > MAX_PAGE) throw badInput({ path: 'ids', message: `must have at most ${MAX_PAGE} items` });
    return this.rows.find(
      session,
      nodeIdsIn(ids, (index) => `ids.${index}`),
      selectionOf,
    );
  }

  @FieldResolver()
  nodeId(@Root() row: { id?: bigint; petId?: bigint }, @Info() { parentType }: GraphQLResolveInfo): string {
    return new NodeId(parentType.name as NodeType, (row.id ?? row.petId) as bigint).toString();
  }
}

/** @param pathOf where each stands. @throws DomainError `BAD_USER_INPUT` that names each that is none. */
function nodeIdsIn(ids: readonly AnyId[], pathOf: (index: number) => string): NodeId[] {
  const nodeIds = ids.filter((id) => id instanceof NodeId);
  if (nodeIds.length === ids.length) return nodeIds;
  const wrong = ids.flatMap((id, index) => (id instanceof NodeId ? [] : [pathOf(index)]));
  throw badInput(...wrong.map((path) => ({ path, message: 'must be a nodeId' })));
}
