import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database';
import type { ApiKey } from '../database/generated/client';
import type { Keys } from '../http/caller';
import { type Account, keyCaller } from './caller';
import { isSame, parseKey, validUntil } from './key-format';

/**
 * How long a look-up is cached, in milliseconds. If another instance revokes a key, this instance rejects it within this
 * time.
 */
const CACHED_MS = 5_000;
/** Minimum interval between two updates of `lastUsedAt`, in milliseconds. */
const LAST_USE_MS = 60_000;
const MAX_KEYS = 10_000;

const NO_KEY = 'Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>.';
const UNKNOWN_KEY = 'The API key is unknown, or its secret is wrong.';

/** A cached look-up. */
interface Entry {
  readonly id: string;
  /** `undefined` if there is no key with this id. */
  readonly key: ApiKey | undefined;
  readonly caller: Account | undefined;
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

/** Finds callers by their API keys, with a cache. */
export class KeyCache implements Keys {
  private readonly entries = new LRUCache<string, Entry>({
    max: MAX_KEYS,
    ttl: CACHED_MS,
    // Without this option, lru-cache would start a timer to cache the current time.
    ttlResolution: 0,
    perf: performance,
    fetchMethod: (id) => this.read(id),
    // If a key changes during a look-up, the look-up still returns its result but does not cache it.
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
  });
  /** The last verified key of each connection. If the client sends the same key again, the key is not hashed. */
  private readonly verified = new WeakMap<object, Verified>();

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /**
   * Returns the caller of a full key; `undefined` if the key is malformed, unknown, wrong, revoked or expired. Returns no
   * promise if the look-up is cached. If the secret does not match a cached key, the key is looked up once more, since
   * another instance may have rotated it.
   * @param connection the connection of the request; a verified key is cached with it.
   */
  recognise(presented: string, connection?: object): Account | undefined | Promise<Account | undefined> {
    const verified = connection && this.verified.get(connection);
    if (verified && this.entries.get(verified.entry.id) === verified.entry && isSame(verified.fullKey, presented))
      return this.admit(verified.entry, verified.endsAt);
    const parsed = parseKey(presented);
    if (!parsed) return undefined;
    const check = (entry: Entry, endsAt = validUntil(parsed.secret, entry.key)) => {
      if (connection && endsAt > 0) this.verified.set(connection, { fullKey: presented, entry, endsAt });
      return this.admit(entry, endsAt);
    };
    const known = this.entries.get(parsed.id);
    if (known) {
      const endsAt = validUntil(parsed.secret, known.key);
      if (endsAt > 0 || !known.key || known.isRechecked) return check(known, endsAt);
    }
    return this.entries.forceFetch(parsed.id, { forceRefresh: known !== undefined }).then((entry) => {
      if (known) entry.isRechecked = true;
      return check(entry);
    });
  }

  /**
   * Why {@link recognise} has just rejected a key. A caller with the right secret is told whether the key was revoked or has
   * expired. For a wrong secret, neither the text nor the time taken reveals whether a key with this id exists.
   */
  rejectionReason(presented: string): string {
    const parsed = parseKey(presented);
    if (!parsed) return NO_KEY;
    const key = this.entries.get(parsed.id)?.key;
    const now = this.now();
    if (validUntil(parsed.secret, key) <= now || !key) return UNKNOWN_KEY;
    if (key.revokedAt) return 'The API key was revoked.';
    return key.expiresAt ? `The API key expired on ${key.expiresAt.toISOString()}.` : UNKNOWN_KEY;
  }

  /** Removes a key from the cache after a change by this instance. */
  forget(id: string): void {
    this.entries.delete(id);
  }

  /**
   * Returns the key's caller and records the time of use. Returns `undefined` if the key is revoked or expired, or its
   * secret is no longer valid.
   */
  private admit(entry: Entry, endsAt: number): Account | undefined {
    const { key, caller } = entry;
    if (!key || !caller) return undefined;
    const now = this.now();
    if (endsAt <= now || key.revokedAt || (key.expiresAt && key.expiresAt.getTime() <= now)) return undefined;
    if (now - entry.lastUseSavedAt > LAST_USE_MS) this.saveLastUse(key.id, entry, now);
    return caller;
  }

  private async read(id: string): Promise<Entry> {
    const key = (await this.database.prisma.apiKey.findUnique({ where: { id } })) ?? undefined;
    return {
      id,
      key,
      caller: key && keyCaller(withoutHashes(key)),
      lastUseSavedAt: key?.lastUsedAt?.getTime() ?? 0,
      isRechecked: false,
    };
  }

  /** Does not wait for the update. If the update fails, a later use is recorded instead. */
  private saveLastUse(id: string, entry: Entry, now: number): void {
    entry.lastUseSavedAt = now;
    this.database.prisma.apiKey
      .updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
      .catch(() => undefined);
  }
}

function withoutHashes({ secretHash: _, previousSecretHash: __, ...rest }: ApiKey) {
  return rest;
}
