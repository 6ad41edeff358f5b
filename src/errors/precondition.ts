import type { Session, Transaction } from '../database/database';
import { ProblemError } from './errors';

/**
 * The condition of a change.
 * @param current the resource, whose row is locked; `null` if the resource does not exist.
 * @param session the transaction of the change.
 * @returns the header or argument whose condition the resource does not meet; `undefined` if it meets all conditions.
 */
export type Precondition = (current: object | null, session: Session) => UnmetCondition | Promise<UnmetCondition>;

type UnmetCondition = 'If-Match' | 'If-None-Match' | 'ifVersion' | undefined;

/**
 * Checks the condition of a change, inside the transaction of the change. The calling function must first check that the
 * resource exists and the input is valid, since these errors take precedence (RFC 9110, section 13.2.1).
 * @param read reads the resource, whose row is locked.
 * @param what the resource: `Pet 7`.
 * @throws ProblemError `PRECONDITION_FAILED`.
 */
export async function requireUnchanged(
  transaction: Transaction,
  precondition: Precondition | undefined,
  what: string,
  read: () => object | null | Promise<object | null>,
): Promise<void> {
  const failed = await precondition?.(await read(), transaction);
  if (failed === 'If-None-Match')
    throw new ProblemError('PRECONDITION_FAILED', `${what} exists, and matches If-None-Match.`);
  if (failed) throw new ProblemError('PRECONDITION_FAILED', `${what} does not match ${failed}. Read it again.`);
}
