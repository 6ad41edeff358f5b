import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import type { Session } from '../database/database';
import { selectByIds } from '../database/reading/select';
import type { FieldSelection } from '../database/reading/selection';
import { encodeNodeId, type Table } from '../database/reading/table';
import { badInput, ProblemError } from '../errors/errors';
import { MAX_INT64, tooLong } from '../errors/input-checks';
import { MAX_PAGE } from '../graphql/connection';
import type { Context } from '../graphql/context';
import { Sized, WEIGHTS, Weighs } from '../graphql/cost-directives';
import { Errors, nullable, RateLimited, RequiresScope } from '../graphql/directives';
import { Node, type TypedRow, typed } from '../graphql/node';
import { type IdForm, idOfForm, OtherId } from '../graphql/scalars';
import { SelectedByType } from '../graphql/selected';
import { CATEGORIES, INVENTORY, ORDERS, PETS } from './model';

/** The types whose objects have a `nodeId`. */
export const NODE_TYPES = ['Pet', 'Category', 'Order', 'InventoryItem'] as const;

export type NodeType = (typeof NODE_TYPES)[number];

const NODE_TABLES: Readonly<Record<NodeType, Table<object>>> = {
  Pet: PETS,
  Category: CATEGORIES,
  Order: ORDERS,
  InventoryItem: INVENTORY,
};

const FORM = /^(\w+):([1-9][0-9]{0,18})$/;

/**
 * An identifier that is unique across all types: the type and the int64 id (`Pet:7`), encoded as base64url. It is opaque to
 * clients.
 */
class NodeId extends OtherId {
  constructor(
    readonly type: NodeType,
    readonly id: bigint,
  ) {
    super();
  }

  /** Parses a node id. @returns `undefined` if the text is not a node id. */
  static parse(text: string): NodeId | undefined {
    const [, name, digits = ''] = FORM.exec(Buffer.from(text, 'base64url').toString()) ?? [];
    const type = NODE_TYPES.find((each) => each === name);
    if (!type || BigInt(digits) > MAX_INT64) return undefined;
    const nodeId = new NodeId(type, BigInt(digits));
    return nodeId.toString() === text ? nodeId : undefined;
  }

  override toString(): string {
    return encodeNodeId(this.type, this.id);
  }
}

/** The form of node ids. */
export const NODE_ID: IdForm = {
  type: idOfForm('NodeId'),
  description: '`nodeId`s are opaque',
  rule: 'a nodeId',
  parse: NodeId.parse,
  fits: (id) => id instanceof NodeId,
};

/** A reference to a row of any type. */
export interface RowReference {
  readonly type: NodeType;
  readonly id: bigint;
}

export type SelectionOf = (type: NodeType) => FieldSelection;

/**
 * Finds rows of several types by their references, with one statement per type.
 * @param references the references, with an error for each invalid reference.
 * @returns the rows in the order of the references; `undefined` for each missing row. The errors are returned too: graphql-js
 * reports each error at its index, and returns null there.
 */
export async function findRows(
  session: Session,
  references: readonly (RowReference | ProblemError)[],
  selectionOf: SelectionOf,
): Promise<(TypedRow | ProblemError | undefined)[]> {
  const valid = references.filter((each): each is RowReference => !(each instanceof ProblemError));
  const types = [...new Set(valid.map(({ type }) => type))];
  const reads = types.map(async (type) => {
    const ids = valid.flatMap((reference) => (reference.type === type ? reference.id : []));
    return [type, await selectByIds(session, NODE_TABLES[type], [...new Set(ids)], selectionOf(type))] as const;
  });
  const found = new Map(await Promise.all(reads));
  return references.map((reference) => {
    if (reference instanceof ProblemError) return reference;
    const row = found.get(reference.type)?.get(reference.id);
    return row && typed(row, reference.type);
  });
}

@Resolver()
export class NodeResolver {
  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Errors('BAD_USER_INPUT')
  @Query(() => Node, nullable('The object with this `nodeId`; null if there is none.'))
  async node(
    @Arg('id', () => NODE_ID.type, { description: 'A `nodeId`.' }) id: NodeId,
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    const [found] = await findRows(session, [id], selectionOf);
    return found;
  }

  @RateLimited()
  @RequiresScope('READ')
  @Errors('BAD_USER_INPUT')
  @Weighs(WEIGHTS.references)
  @Sized('ids')
  @Query(() => [Node], {
    nullable: 'items',
    description: 'The objects with these `nodeId`s, in the same order; null for each object that does not exist.',
  })
  nodes(
    @Arg('ids', () => [NODE_ID.type], { description: `At most ${MAX_PAGE} \`nodeId\`s.` }) ids: NodeId[],
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    if (ids.length > MAX_PAGE) throw badInput({ path: 'ids', ...tooLong(MAX_PAGE, 'items') });
    return findRows(session, ids, selectionOf);
  }
}
