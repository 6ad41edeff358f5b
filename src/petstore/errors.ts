import { type ErrorEntry, NEW_KEY } from '../errors/codes';
import { type ErrorDetail, ExpectedError, type Fault } from '../errors/errors';

/** The error codes of the petstore's rules. */
export const PETSTORE_ERRORS = {
  INSUFFICIENT_STOCK: {
    status: 409,
    why: 'Fewer units are in stock than the order or the adjustment asks for. The stock is unchanged.',
    fix: `Ask for fewer units (\`details\` says how many are in stock), or try again when \`inventoryChanged\` reports a larger stock. ${NEW_KEY}`,
    message: 'Fewer than 2 units of pet 1 are in stock.',
    rules: {
      EXCEEDS_STOCK:
        'Only `available` units can be taken: the stock, and the units that the order to update has taken already.',
    },
  },
  ORDER_COMPLETE: {
    status: 409,
    why: 'The order is complete: its pet and quantity can no longer change.',
    fix: `Place another order. ${NEW_KEY}`,
    message: 'Order 1 is complete; its pet and quantity can no longer change.',
  },
  CATEGORY_NOT_EMPTY: {
    status: 409,
    why: 'The category still has pets.',
    fix: `Move its pets to another category or delete them first. ${NEW_KEY}`,
    message: 'Category 1 still has pets; move or delete them first.',
  },
  PET_HAS_ORDERS: {
    status: 409,
    why: 'The pet still has orders.',
    fix: `Cancel its orders first, or keep the pet with the status \`sold\`. ${NEW_KEY}`,
    message: 'Pet 1 still has orders; cancel them first.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** The error of a request that breaks a rule of the petstore. */
export class PetstoreError extends ExpectedError {
  constructor(code: keyof typeof PETSTORE_ERRORS, message: string, details?: readonly ErrorDetail[]) {
    super(code, PETSTORE_ERRORS[code].status, message, details);
  }
}

/** @param available the units that can be taken; `undefined` if unknown. */
export function exceedsStock(available: number | undefined): Fault {
  if (available === undefined) return { message: 'exceeds the stock', rule: 'EXCEEDS_STOCK' };
  return { message: `exceeds the stock: ${available}`, rule: 'EXCEEDS_STOCK', params: { available } };
}
