import { createHash } from 'node:crypto';
import type { Session } from './database';
import { statement } from './statement';

/** Something that a caller asks for under an idempotency key. */
export interface Claim {
  /** A key id or an address. */
  readonly caller: string;
  readonly key: string;
  /** SHA-256 of what is asked, in hexadecimal. */
  readonly fingerprint: string;
}

/** The answer that is kept under a key, and whether it was given to what is asked now. */
export interface KeptAnswer {
  readonly answer: string;
  readonly isSame: boolean;
}

/** Bytes of an answer that can be kept; the table has the same bound. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

const FIND = statement(
  `select answer, fingerprint = decode($3::text, 'hex') as "isSame" from idempotency_keys
where caller = $1::text and key = $2::text and expires_at > $4::timestamptz`,
);

const LOCK = statement('select pg_try_advisory_xact_lock($1::bigint) as "isMine"');

// Any number, the same on all instances. Prisma reads no `void`.
const LOCK_SEVERAL = statement('select pg_advisory_xact_lock(72707371)::text');

const KEEP = statement(
  `insert into idempotency_keys (caller, key, fingerprint, answer, expires_at)
values ($1::text, $2::text, decode($3::text, 'hex'), $4::text, $5::timestamptz)
on conflict (caller, key) do update
set fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at`,
);

const DELETE_EXPIRED = statement(
  `with gone as (
  delete from idempotency_keys where (caller, key) in (
    select caller, key from idempotency_keys where expires_at <= $1::timestamptz
    order by expires_at limit $2::int for update skip locked
  ) returning 1
)
select count(*)::int as count from gone`,
);

/** What is kept under the key; `undefined` if that is nothing, or has expired. */
export async function findAnswer(
  session: Session,
  { caller, key, fingerprint }: Claim,
  now: Date,
): Promise<KeptAnswer | undefined> {
  const [found] = await session.query<KeptAnswer>(FIND, [caller, key, fingerprint, now]);
  return found;
}

/**
 * Keeps all others from the key until the transaction ends, however it does: of one that is cut short nothing is left.
 * @returns false, at once, when another transaction has it.
 */
export async function lockKey(transaction: Session, claim: Claim): Promise<boolean> {
  const [locked] = await transaction.query<{ isMine: boolean }>(LOCK, [lockOf(claim)]);
  return locked?.isMine === true;
}

/** Makes all others that lock rows one by one wait until the transaction ends: in whatever order they do, none deadlocks. */
export async function lockSeveral(transaction: Session): Promise<void> {
  await transaction.query(LOCK_SEVERAL, []);
}

/** Keeps an answer under a key that is locked. @param expiresAt from when on it is as if it were not there. */
export async function keepAnswer(
  transaction: Session,
  { caller, key, fingerprint }: Claim,
  answer: string,
  expiresAt: Date,
): Promise<void> {
  await transaction.query(KEEP, [caller, key, fingerprint, answer, expiresAt]);
}

/** Deletes at most `limit` of the answers that have expired, and none that another instance is deleting. @returns how many. */
export async function deleteExpiredAnswers(session: Session, now: Date, limit: number): Promise<number> {
  const [deleted] = await session.query<{ count: number }>(DELETE_EXPIRED, [now, limit]);
  return deleted?.count ?? 0;
}

/** A hash that nobody can aim: two keys that share a lock would only make each other wait. */
function lockOf({ caller, key }: Claim): bigint {
  return createHash('sha256').update(`${caller}\n${key}`).digest().readBigInt64BE();
}
