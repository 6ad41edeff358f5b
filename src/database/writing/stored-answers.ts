import type { Transaction } from '../database';
import { lock, tryLock } from './raw-queries';

/** A request made under an idempotency key. */
export interface Claim {
  /** An API key's id or an address. */
  readonly caller: string;
  readonly key: string;
  /** SHA-256 of the request, in hexadecimal. */
  readonly fingerprint: string;
}

/** The response stored under a key, and whether it belongs to the same request. */
export interface KeptAnswer {
  readonly answer: string;
  readonly isSame: boolean;
}

/** Maximum bytes of a stored response, as in the table. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** Finds the response stored under the key; `undefined` if there is none or it has expired. */
export async function findAnswer(
  transaction: Transaction,
  { caller, key, fingerprint }: Claim,
  now: Date,
): Promise<KeptAnswer | undefined> {
  const where = { caller_key: { caller, key }, expiresAt: { gt: now } };
  const found = await transaction.prisma.idempotencyKey.findUnique({ where });
  if (!found) return undefined;
  return { answer: found.answer, isSame: Buffer.from(fingerprint, 'hex').equals(found.fingerprint) };
}

/**
 * Locks the key until the transaction ends in any way; an aborted transaction leaves nothing behind.
 * @returns false, without waiting, if another transaction holds it.
 */
export function lockKey(transaction: Transaction, { caller, key }: Claim): Promise<boolean> {
  return tryLock(transaction, { text: `${caller}\n${key}` });
}

/** Serialises transactions that lock rows one by one: whatever their order, they cannot deadlock. */
export function lockSeveral(transaction: Transaction): Promise<void> {
  return lock(transaction, 'severalFields');
}

/** Stores a response under a locked key. @param expiresAt from when on it is ignored. */
export async function keepAnswer(
  transaction: Transaction,
  { caller, key, fingerprint }: Claim,
  answer: string,
  expiresAt: Date,
): Promise<void> {
  const content = { fingerprint: Buffer.from(fingerprint, 'hex'), answer, expiresAt };
  const where = { caller_key: { caller, key } };
  const create = { caller, key, ...content };
  await transaction.prisma.idempotencyKey.upsert({ where, create, update: content, select: { key: true } });
}
