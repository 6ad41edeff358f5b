import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { Session } from '../../database/database';
import { MAX_PAGE } from '../../domain/connection';
import { badInput } from '../../domain/domain-error';
import { Errors } from '../../errors/errors-directive';
import { Counted, Requires } from '../../graphql/directives/directives';
import type { Context } from '../../graphql/executor/context';
import { SelectedByType } from '../../graphql/executor/selected';
import type { Selection } from '../../reading/selection';
import { NodeId, type NodeType } from '../node-id';
import { type AnyId, Id } from '../scalars';
import { Node, type TypedRow } from '../types/node';

/** Finds rows of one type, by id. */
interface Finder {
  find(session: Session, ids: readonly bigint[], selection: Selection): Promise<ReadonlyMap<bigint, object>>;
}

type SelectionOf = (type: NodeType) => Selection;

@Resolver(() => Node)
export class NodeResolver {
  constructor(private readonly finders: Readonly<Record<NodeType, Finder>>) {}

  @Counted()
  @Requires('READ')
  @Errors('BAD_USER_INPUT')
  @Query(() => Node, { nullable: true, description: 'The object with this `nodeId`; null if there is none.' })
  async node(
    @Arg('id', () => Id, { description: 'A `nodeId`.', validateFn: acceptNodeIds }) id: AnyId,
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    const [found] = await this.find(session, [nodeIdIn(id, 'id')], selectionOf);
    return found;
  }

  @Counted()
  @Requires('READ')
  @Errors('BAD_USER_INPUT')
  @Query(() => [Node], {
    nullable: 'items',
    description: 'The objects with these `nodeId`s, in the same order; null in place of those that do not exist.',
  })
  nodes(
    @Arg('ids', () => [Id], { description: `At most ${MAX_PAGE} \`nodeId\`s.`, validateFn: acceptNodeIds })
    ids: AnyId[],
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    if (ids.length > MAX_PAGE) throw badInput({ path: 'ids', message: `must have at most ${MAX_PAGE} items` });
    const nodeIds = ids.map((id, index) => nodeIdIn(id, `ids.${index}`));
    return this.find(session, nodeIds, selectionOf);
  }

  @FieldResolver()
  nodeId(@Root() row: { id?: bigint; petId?: bigint }, @Info() { parentType }: GraphQLResolveInfo): string {
    return new NodeId(parentType.name as NodeType, (row.id ?? row.petId) as bigint).toString();
  }

  /** Reads each type with one statement. */
  private async find(session: Session, nodeIds: readonly NodeId[], selectionOf: SelectionOf) {
    const types = [...new Set(nodeIds.map(({ type }) => type))];
    const reads = types.map(async (type) => {
      const ids = nodeIds.flatMap((nodeId) => (nodeId.type === type ? nodeId.id : []));
      return [type, await this.finders[type].find(session, [...new Set(ids)], selectionOf(type))] as const;
    });
    const found = new Map(await Promise.all(reads));
    return nodeIds.map(({ type, id }) => {
      const row = found.get(type)?.get(id);
      return row && typed(row, type);
    });
  }
}

/** Rows are plain objects: the executor has to be told their types. */
function typed(row: object, type: NodeType): TypedRow {
  return Object.assign(row, { __typename: type });
}

function nodeIdIn(id: AnyId, path: string): NodeId {
  if (id instanceof NodeId) return id;
  throw badInput({ path, message: 'must be a nodeId' });
}

/** Replaces the default check, which accepts integers only. */
function acceptNodeIds(): void {}
