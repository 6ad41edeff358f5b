import { createHash } from 'node:crypto';
import type { Session } from './database';
import { statement } from './statement';

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

/** Maximum size of a stored response in bytes; the table has the same limit. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

const FIND = statement(
  `select answer, fingerprint = decode($3::text, 'hex') as "isSame" from idempotency_keys
where caller = $1::text and key = $2::text and expires_at > $4::timestamptz`,
);

const LOCK = statement('select pg_try_advisory_xact_lock($1::bigint) as "isMine"');

// An arbitrary number, the same on all instances. Prisma cannot read `void`.
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

/** Finds the response stored under the key; `undefined` if there is none or it has expired. */
export async function findAnswer(
  session: Session,
  { caller, key, fingerprint }: Claim,
  now: Date,
): Promise<KeptAnswer | undefined> {
  const [found] = await session.query<KeptAnswer>(FIND, [caller, key, fingerprint, now]);
  return found;
}

/**
 * Locks the key until the transaction ends in any way; an aborted transaction leaves nothing behind.
 * @returns false, without waiting, if another transaction holds it.
 */
export async function lockKey(transaction: Session, claim: Claim): Promise<boolean> {
  const [locked] = await transaction.query<{ isMine: boolean }>(LOCK, [lockOf(claim)]);
  return locked?.isMine === true;
}

/** Serialises transactions that lock rows one by one: whatever their order, they cannot deadlock. */
export async function lockSeveral(transaction: Session): Promise<void> {
  await transaction.query(LOCK_SEVERAL, []);
}

/** Stores a response under a locked key. @param expiresAt from when on it is ignored. */
export async function keepAnswer(
  transaction: Session,
  { caller, key, fingerprint }: Claim,
  answer: string,
  expiresAt: Date,
): Promise<void> {
  await transaction.query(KEEP, [caller, key, fingerprint, answer, expiresAt]);
}

/** Deletes up to `limit` expired responses, except those another instance is deleting. @returns how many. */
export async function deleteExpiredAnswers(session: Session, now: Date, limit: number): Promise<number> {
  const [deleted] = await session.query<{ count: number }>(DELETE_EXPIRED, [now, limit]);
  return deleted?.count ?? 0;
}

/** A hash that nobody can target; keys that collide would only wait for each other. */
function lockOf({ caller, key }: Claim): bigint {
  return createHash('sha256').update(`${caller}\n${key}`).digest().readBigInt64BE();
}
