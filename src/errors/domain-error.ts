import { type Failure, failureOf } from '../database/failures';

/** Refusals by the shop's rules. The codes are part of the public contract. */
export type DomainErrorCode =
  | 'BAD_USER_INPUT'
  | 'NOT_FOUND'
  | 'PRECONDITION_FAILED'
  | 'UNKNOWN_REFERENCE'
  | 'INSUFFICIENT_STOCK'
  | 'ORDER_COMPLETE'
  | 'CATEGORY_NOT_EMPTY'
  | 'PET_HAS_ORDERS';

/** One problem of the input: its location (`input.name`, `first`) and the rule it breaks. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** An expected refusal: its message and details are meant for the caller. */
export class DomainError extends Error {
  constructor(
    readonly code: DomainErrorCode,
    message: string,
    readonly details?: readonly ErrorDetail[],
  ) {
    super(message);
  }
}

/** Invalid input; the message lists every field and the rule it breaks. */
export function badInput(...details: ErrorDetail[]): DomainError {
  const message = details.map((detail) => `${detail.path}: ${detail.message}`).join('; ');
  return new DomainError('BAD_USER_INPUT', message, details);
}

/** @param what the type of object: `Pet`. */
export function notFound(what: string, id: bigint): DomainError {
  return new DomainError('NOT_FOUND', `${what} ${id} does not exist.`);
}

/** The input refers to something that does not exist. */
export function unknownReference(path: string, what: string, id: bigint): DomainError {
  const message = `${what} ${id} does not exist.`;
  return new DomainError('UNKNOWN_REFERENCE', message, [{ path, message }]);
}

/** Awaits a write; rejects with the refusal that belongs to the database's failure, or the failure itself if none does. */
export async function refusing<T>(
  write: Promise<T>,
  refusals: { readonly [failure in Failure]?: () => DomainError },
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const failure = failureOf(error);
    throw (failure && refusals[failure]?.()) ?? error;
  }
}

/**
 * What a caller makes a change depend on: whether the resource is still what the caller has seen of it.
 * @param current the resource, which nobody else can change any more; `null` if there is none.
 */
export type Precondition = (current: object | null) => boolean;

/**
 * Decides on a change inside its transaction. Whether the resource exists, and whether the input is valid, is checked
 * before: such refusals take precedence (RFC 9110, section 13.2.1).
 * @param read reads the resource, whose row is locked.
 * @param what the resource: `Pet 7`.
 * @throws DomainError `PRECONDITION_FAILED`.
 */
export async function requireUnchanged(
  precondition: Precondition | undefined,
  what: string,
  read: () => object | null | Promise<object | null>,
): Promise<void> {
  if (!precondition || precondition(await read())) return;
  const message = `${what} is not the version that the request is for: it has been changed. Read it again.`;
  throw new DomainError('PRECONDITION_FAILED', message);
}
