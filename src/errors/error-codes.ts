import type { ErrorEntry } from './error-entry';
import { OPERATION_ERRORS } from './operation-errors';
import { REQUEST_ERRORS } from './request-errors';

/** A code of the contract: the same in GraphQL and REST. */
export type ErrorCode = keyof typeof REQUEST_ERRORS | keyof typeof OPERATION_ERRORS;

/** Every error code by status, those of successful HTTP last: what it means, and what to do about it. */
export const ERRORS = Object.fromEntries(
  Object.entries<ErrorEntry>({ ...REQUEST_ERRORS, ...OPERATION_ERRORS }).sort(([, a], [, b]) => rank(a) - rank(b)),
) as Readonly<Record<ErrorCode, ErrorEntry>>;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

function rank({ status }: ErrorEntry): number {
  return status < 400 ? 1000 : status;
}
