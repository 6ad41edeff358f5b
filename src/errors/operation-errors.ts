import type { ErrorEntry } from './error-entry';

/** What an operation answers by its own rules, and by those of idempotency keys and preconditions. */
export const OPERATION_ERRORS = {
  BAD_USER_INPUT: {
    status: 400,
    why: 'Values have the wrong type or are out of bounds. `details` has each one with its `path` and the rule.',
    fix: 'Correct the values that `details` names. The idempotency key may be used again.',
    message: 'name: must not be empty',
  },
  NOT_FOUND: {
    status: 404,
    why: 'The resource or the path does not exist, or exists no more.',
    fix: 'Look for it in its list. A GraphQL query for one thing answers `null` instead, without an error.',
    message: 'Pet 7 does not exist.',
  },
  INSUFFICIENT_STOCK: {
    status: 409,
    why: 'Fewer units are in stock than the order asks for. Nothing was taken.',
    fix: 'Order fewer (`details` says how many are there), or try again once the stock has been raised (`inventoryChanged` reports it).',
    message: 'Fewer than 2 units of pet 1 are in stock.',
  },
  ORDER_COMPLETE: {
    status: 409,
    why: 'The order is complete: its pet and quantity can no longer change.',
    fix: 'Place another order.',
    message: 'Order 1 is complete; its pet and quantity no longer change.',
  },
  CATEGORY_NOT_EMPTY: {
    status: 409,
    why: 'The category still has pets.',
    fix: 'Move its pets to another category or delete them first.',
    message: 'Category 1 still has pets; move or delete them first.',
  },
  PET_HAS_ORDERS: {
    status: 409,
    why: 'The pet still has orders.',
    fix: 'Cancel its orders first, or keep the pet with the status `sold`.',
    message: 'Pet 1 still has orders; cancel them first.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    why: 'A request with the same `Idempotency-Key` is still running.',
    fix: 'Retry shortly with the same key: you will get the answer to the first request.',
    message: 'A request with this Idempotency-Key is still running. Try again shortly.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    why: 'The resource is no longer the version that `If-Match` names: someone has changed it. Nothing was done.',
    fix: 'Read it again, repeat the change on what it is now, and send it with the new `ETag`.',
    message: 'Pet 7 is not the version that the request is for: it has been changed. Read it again.',
  },
  UNKNOWN_REFERENCE: {
    status: 422,
    why: 'The input refers to something that does not exist. `details` names the field.',
    fix: 'Create what it refers to first, or correct the id.',
    message: 'Category 7 does not exist.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    why: 'The `Idempotency-Key` was used for another request within the last 24 hours.',
    fix: 'Use a new key for each action, and the same one only to retry it.',
    message: 'This Idempotency-Key was used for another request within the last 24 hours.',
  },
} as const satisfies Record<string, ErrorEntry>;
