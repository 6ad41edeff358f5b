import { badInput, type ErrorDetail } from '../errors/domain-error';
import { Id, INT64_RULE } from '../graphql/scalars';
import { NODE_TYPES, type NodeType } from './node-id';
import type { RowReference } from './typed-rows';

/** The field that other subgraphs refer to an entity by (`@key`). */
export const KEYS: Readonly<Record<NodeType, string>> = {
  Pet: 'id',
  Category: 'id',
  Order: 'id',
  InventoryItem: 'petId',
};

/**
 * The entities that representations name. Their other fields are ignored.
 * @throws DomainError `BAD_USER_INPUT` that names each which has no entity's type, or not its key.
 */
export function referencesIn(representations: readonly unknown[]): RowReference[] {
  const faults: ErrorDetail[] = [];
  const references = representations.flatMap((representation, index): RowReference[] => {
    const { __typename, ...fields } = (representation ?? {}) as Readonly<Record<string, unknown>>;
    const refuse = (field: string, message: string) => {
      faults.push({ path: `representations.${index}.${field}`, message });
      return [];
    };
    const type = NODE_TYPES.find((each) => each === __typename);
    if (!type) return refuse('__typename', `must be one of ${NODE_TYPES.join(', ')}`);
    const id = parse(fields[KEYS[type]]);
    return typeof id === 'bigint' ? [{ type, id }] : refuse(KEYS[type], INT64_RULE);
  });
  if (faults.length) throw badInput(...faults);
  return references;
}

function parse(value: unknown): unknown {
  try {
    return Id.parseValue(value);
  } catch {
    return undefined;
  }
}
