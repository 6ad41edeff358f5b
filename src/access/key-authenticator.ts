import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database';
import { Deadline, Ended } from '../database/deadline';
import { failureOf } from '../database/failures';
import { statement } from '../database/statement';
import { ProblemError } from '../errors/errors';
import { type Authenticator, KeyRejection, type KeySource } from '../http/identification';
import type { LookUps } from '../rate-limit/look-ups';
import { type Account, keyCaller, type StoredKey } from './account';
import { hasEnded, isSame, parseKey, type StoredSecrets, validUntil } from './key-format';

/**
 * How long a look-up is cached, in milliseconds. If another instance revokes a key, this instance rejects it within this
 * time.
 */
const CACHED_MS = 5_000;
/** Minimum interval between two updates of `lastUsedAt`, in milliseconds. */
const LAST_USE_MS = 60_000;
const MAX_KEYS = 10_000;

const NO_KEY = new KeyRejection(
  'Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>.',
);
/** Neither the text nor the time taken reveals whether a key with this id exists. */
const UNKNOWN_KEY = new KeyRejection('The API key is unknown, or its secret is wrong.');
/** One instance for all requests, since a stack trace is expensive. The cause is logged by `onFailure`. */
const NOT_CHECKED = new ProblemError(
  'SERVICE_UNAVAILABLE',
  'The key cannot be checked at the moment. Try again shortly.',
);

/** Selects a key. Times are numbers, since the text of a time depends on settings of the session. */
const READ =
  statement(`select key.id, key.name, quota.plan::text, key.scopes::text[], key.shares_quota_of as "sharesQuotaOf",
  quota.per_minute as "perMinute", quota.per_day as "perDay",
  key.secret_hash as "secretHash", key.previous_secret_hash as "previousSecretHash",
  ${milliseconds('key.previous_secret_until')} as "previousSecretUntil", ${milliseconds('key.created_at')} as "createdAt",
  ${milliseconds('key.expires_at')} as "expiresAt", ${milliseconds('key.revoked_at')} as "revokedAt",
  ${milliseconds('key.last_used_at')} as "lastUsedAt"
  from api_keys as key join api_keys as quota on quota.id = coalesce(key.shares_quota_of, key.id) where key.id = $1`);

const TIMES = ['previousSecretUntil', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'] as const;

/** A row of the query. Its times are milliseconds since the Unix epoch. */
type Row = StoredSecrets & Omit<StoredKey, (typeof TIMES)[number]> & Record<(typeof TIMES)[number], bigint | null>;

/** The latest look-up of an id. */
interface Entry {
  readonly id: string;
  /** `undefined` if there is no key with this id. */
  readonly key: (StoredKey & StoredSecrets) | undefined;
  readonly caller: Account | undefined;
  /** The caller if the request presents the previous secret. */
  readonly callerByOldSecret: Account | undefined;
  /** In `performance.now()` time; `-Infinity` after a change of the key. */
  readAt: number;
  lastUseSavedAt: number;
  /** Whether the key was looked up again because a secret did not match the previously cached entry. */
  isRechecked: boolean;
}

/** A full key that was verified. */
interface Verified {
  readonly fullKey: string;
  readonly entry: Entry;
  /** When the secret stops being valid, in milliseconds since the Unix epoch; `Infinity` for the current secret. */
  readonly endsAt: number;
}

/** A look-up that waits for other look-ups of its address, and the clients that wait for its result. */
interface Waiting {
  readonly entry: Promise<Entry>;
  readonly deadline: Deadline;
  clients: number;
}

interface KeyAuthenticatorOptions {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Time limit of a look-up, in milliseconds. */
  readonly lookUpMs: number;
  readonly lookUps: LookUps;
  /** Called for each look-up that fails because the database is unavailable or too slow. */
  onFailure(error: unknown): void;
}

/**
 * Finds callers by their API keys, and records when a key is used. Look-ups are cached. Look-ups of unknown keys are limited. An
 * outdated cache entry stays in memory, to recognize a key that was valid before. The next look-up of this key counts for the
 * key, without the limits for unknown keys.
 */
export class KeyAuthenticator implements Authenticator {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_KEYS });
  /** The ids without a key. They are kept apart, so that invented ids do not evict keys. */
  private readonly missing = new LRUCache<string, Entry>({ max: MAX_KEYS });
  /** Look-ups in progress. Concurrent requests with the same full key share a look-up. */
  private readonly reading = new Map<string, Promise<Entry>>();
  /** Look-ups of unknown keys by address and id. They wait for other look-ups of their address before they join `reading`. */
  private readonly waiting = new Map<string, Waiting>();
  /** The number of changes by this instance. A look-up that began before a change is not cached. */
  private changes = 0;
  /** The last verified key of each connection. If the client sends the same key again, the key is not hashed. */
  private readonly verified = new WeakMap<object, Verified>();

  constructor(
    private readonly database: Database,
    private readonly options: KeyAuthenticatorOptions,
  ) {}

  /**
   * Returns the caller of a full key, or why the key is not accepted. Returns no promise if the look-up is cached. If the secret
   * does not match a cached key, the key is looked up once more, since another instance may have rotated it.
   * @throws ProblemError `RATE_LIMITED` if the client's address has sent too many unknown keys; `SERVICE_UNAVAILABLE`; Ended if
   * the client no longer waits; errors of `beforeLookUp`.
   */
  authenticate(presented: string, source: KeySource): Account | KeyRejection | Promise<Account | KeyRejection> {
    const { address, socket } = source;
    const verified = socket && this.verified.get(socket);
    if (verified && isFresh(verified.entry) && this.entries.get(verified.entry.id) === verified.entry)
      if (isSame(verified.fullKey, presented)) return this.accept(verified.entry, verified.endsAt);
    const parsed = parseKey(presented);
    if (!parsed) return NO_KEY;
    const { id } = parsed;
    const check = (entry: Entry, endsAt = validUntil(parsed.secret, entry.key)) => {
      if (socket && endsAt > 0) this.verified.set(socket, { fullKey: presented, entry, endsAt });
      return this.accept(entry, endsAt);
    };
    const known = this.entries.get(id) ?? this.missing.get(id);
    const endsAt = known ? validUntil(parsed.secret, known.key) : -Infinity;
    const isKnown = endsAt > 0;
    const isCurrent = known !== undefined && isFresh(known);
    if (isCurrent && (isKnown || !known.key || known.isRechecked)) return check(known, endsAt);
    // Requests that join a look-up are counted separately. Otherwise, many requests with one key would block the look-ups of
    // other keys.
    const joins = this.reading.has(presented) || this.waiting.has(nameOf(id, address));
    source.beforeLookUp?.(isKnown ? id : joins ? `${address} joined` : address);
    const look = isKnown ? this.lookUp(presented, id, id) : this.lookUpUnknown(presented, id, source);
    return look.then((entry) => {
      if (isCurrent) entry.isRechecked = true;
      return check(entry);
    });
  }

  /**
   * Called after a change by this instance. The next use of the key, or of a key that shares its quota, looks the key up again.
   */
  forget(id: string): void {
    for (const entry of this.entries.values())
      if (entry.id === id || entry.key?.sharesQuotaOf === id) entry.readAt = -Infinity;
    this.missing.delete(id);
    this.reading.clear();
    this.waiting.clear();
    this.changes += 1;
  }

  /**
   * Returns the key's caller and records the time of use, or returns why the key is not accepted. Only a caller with the
   * correct secret is told whether the key was revoked or has expired.
   */
  private accept(entry: Entry, endsAt: number): Account | KeyRejection {
    const { key } = entry;
    const caller = endsAt === Infinity ? entry.caller : entry.callerByOldSecret;
    const now = this.options.now();
    if (!key || !caller || !(endsAt > now)) return UNKNOWN_KEY;
    if (hasEnded(key, now)) return ended(key);
    if (now - entry.lastUseSavedAt > LAST_USE_MS) this.saveLastUse(key.id, entry, now);
    return caller;
  }

  /**
   * Ends the wait when all clients that wait for this look-up have disconnected. A look-up that has started is always
   * completed.
   */
  private lookUpUnknown(presented: string, id: string, { address, deadline: client }: KeySource): Promise<Entry> {
    const name = nameOf(id, address);
    let waiting = this.waiting.get(name);
    if (!waiting) {
      const deadline = new Deadline(this.options.lookUpMs);
      const entry = this.options.lookUps.run(address, deadline, () => this.lookUp(presented, id, address));
      waiting = { entry, deadline, clients: 0 };
      this.waiting.set(name, waiting);
      const forget = () => this.forgetWaiting(name, deadline);
      entry.then(forget, forget);
    }
    const joined = waiting;
    joined.clients++;
    client.onEnd(() => {
      joined.clients--;
      if (joined.clients) return;
      joined.deadline.end();
      this.forgetWaiting(name, joined.deadline);
    });
    return joined.entry;
  }

  private forgetWaiting(name: string, deadline: Deadline): void {
    if (this.waiting.get(name)?.deadline === deadline) this.waiting.delete(name);
  }

  /** @param callerId the caller for whom the database is read. */
  private lookUp(presented: string, id: string, callerId: string): Promise<Entry> {
    const running = this.reading.get(presented);
    if (running) return running;
    const started = this.read(id, callerId).finally(() => {
      if (this.reading.get(presented) === started) this.reading.delete(presented);
    });
    this.reading.set(presented, started);
    return started;
  }

  private async read(id: string, callerId: string): Promise<Entry> {
    const { changes } = this;
    const readAt = performance.now();
    const deadline = new Deadline(this.options.lookUpMs);
    const rows = await this.database
      .sessionFor({ callerId, deadline })
      .query<Row>(READ, [id])
      .catch((error: unknown) => {
        // An unknown error may be a bug. It is logged in full with its request.
        if (!failureOf(error) && !(error instanceof Ended)) throw error;
        this.options.onFailure(error);
        throw NOT_CHECKED;
      });
    const key = rows[0] && keyOf(rows[0]);
    const entry: Entry = {
      id,
      key,
      caller: key && keyCaller(withoutHashes(key), key.secretHash),
      callerByOldSecret: key && keyCaller(withoutHashes(key), key.previousSecretHash ?? undefined),
      readAt,
      lastUseSavedAt: key?.lastUsedAt?.getTime() ?? 0,
      isRechecked: false,
    };
    if (changes !== this.changes) return entry;
    (key ? this.entries : this.missing).set(id, entry);
    (key ? this.missing : this.entries).delete(id);
    return entry;
  }

  /** Does not wait for the update. If the update fails, a later use is recorded instead. */
  private saveLastUse(id: string, entry: Entry, now: number): void {
    entry.lastUseSavedAt = now;
    this.database.prisma.apiKey
      .updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
      .catch(() => undefined);
  }
}

function withoutHashes({ secretHash: _, previousSecretHash: __, ...rest }: StoredKey & StoredSecrets): StoredKey {
  return rest;
}

function nameOf(id: string, address: string): string {
  return `${address} ${id}`;
}

function ended({ revokedAt, expiresAt }: StoredKey): KeyRejection {
  return new KeyRejection(
    revokedAt ? 'The API key was revoked.' : `The API key expired on ${expiresAt?.toISOString()}.`,
  );
}

function isFresh({ readAt }: Entry): boolean {
  return performance.now() - readAt < CACHED_MS;
}

function keyOf(row: Row): StoredKey & StoredSecrets {
  const date = (time: bigint | null) => (time === null ? null : new Date(Number(time)));
  const { previousSecretUntil, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest } = row;
  return {
    ...rest,
    createdAt: new Date(Number(createdAt)),
    previousSecretUntil: date(previousSecretUntil),
    expiresAt: date(expiresAt),
    revokedAt: date(revokedAt),
    lastUsedAt: date(lastUsedAt),
  };
}

/** SQL for a time in milliseconds since the Unix epoch. */
function milliseconds(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::bigint`;
}
