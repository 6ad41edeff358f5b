import { MAX_INT64 } from '../errors/input-rules';

/** The types whose objects can be found again by their `nodeId`. */
export const NODE_TYPES = ['Pet', 'Category', 'Order', 'InventoryItem'] as const;

export type NodeType = (typeof NODE_TYPES)[number];

const FORM = /^(\w+):([1-9][0-9]{0,18})$/;

/**
 * An identifier that is unique across types: the type and the int64 id, as base64url of `Pet:7`, which the tables of
 * `reading` writes as SQL. Opaque to clients.
 */
export class NodeId {
  constructor(
    readonly type: NodeType,
    readonly id: bigint,
  ) {}

  /** `undefined` if the text is none. */
  static parse(text: string): NodeId | undefined {
    const [, name, digits = ''] = FORM.exec(Buffer.from(text, 'base64url').toString()) ?? [];
    const type = NODE_TYPES.find((each) => each === name);
    if (!type || BigInt(digits) > MAX_INT64) return undefined;
    const nodeId = new NodeId(type, BigInt(digits));
    return nodeId.toString() === text ? nodeId : undefined;
  }

  toString(): string {
    return Buffer.from(`${this.type}:${this.id}`).toString('base64url');
  }
}
