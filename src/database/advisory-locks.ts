import { createHash } from 'node:crypto';
import type { Session } from './database';
import { statement } from './statement';

// Arbitrary numbers, which must be the same on all instances. They must differ from 72707369, which migrations use.
const GLOBAL_LOCKS = { apiKeys: 72707370n, cleaning: 72707372n, numbering: 72707373n };
const LOCK = statement('select pg_advisory_xact_lock($1::bigint)::text');
const TRY_LOCK = statement('select pg_try_advisory_xact_lock($1::bigint) as "isMine"');

/** Kinds of work that only one transaction may do at a time, across all instances. */
type Exclusive = keyof typeof GLOBAL_LOCKS;

/** Waits for the lock on this kind of work, and holds it until the transaction ends. */
export async function lock(transaction: Session, what: Exclusive): Promise<void> {
  await transaction.query(LOCK, [GLOBAL_LOCKS[what]]);
}

/**
 * Tries to take the lock on a kind of work, or on a text, and holds it until the transaction ends.
 * @returns false, without waiting, if another transaction holds the lock.
 */
export async function tryLock(transaction: Session, what: Exclusive | { text: string }): Promise<boolean> {
  const number = typeof what === 'string' ? GLOBAL_LOCKS[what] : hashOf(what.text);
  const [locked] = await transaction.query<{ isMine: boolean }>(TRY_LOCK, [number]);
  return locked?.isMine === true;
}

/** A cryptographic hash, so that no caller can choose a text that collides with another caller's text. */
function hashOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigInt64BE();
}
