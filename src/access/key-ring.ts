import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database';
import type { ApiKey } from '../database/generated/client';
import { type Caller, keyCaller } from './caller';
import { isSame, parseKey, validUntil } from './secret';

/** How long a look-up is cached: a revocation on another instance takes effect within this time. */
const CACHED_MS = 5_000;
/** Minimum interval between two updates of a key's last use. */
const USE_NOTED_MS = 60_000;
const MAX_KEYS = 10_000;
/** Non-existent keys that one address may look up per minute: more than it takes to be banned. */
const MAX_GUESSES = 100;
const GUESSES_FORGOTTEN_MS = 60_000;

interface Entry {
  readonly key?: ApiKey;
  readonly caller?: Caller;
  /** When it expires, on the clock of {@link performance.now}. */
  readonly until: number;
  /** The number of invalidations when it was read. */
  readonly changes: number;
  useNotedAt: number;
  /** Whether it was read for a secret that did not fit the entry before it. */
  isRechecked: boolean;
}

/** A full key that was verified. */
interface Shown {
  readonly whole: string;
  readonly entry: Entry;
  /** When its secret ends, by the service's clock; `Infinity` unless the key has been given another. */
  readonly endsAt: number;
}

/** Recognises callers by their API keys. */
export class KeyRing {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_KEYS });
  /** Look-ups in progress: a busy key whose entry has just expired is looked up only once. */
  private readonly fetching = new Map<string, Promise<Entry>>();
  /** Keys that existed when they were last looked up. */
  private readonly existing = new LRUCache<string, true>({ max: MAX_KEYS });
  /** Number of look-ups by each address that found nothing. */
  private readonly guesses = new LRUCache<string, number>({
    max: MAX_KEYS,
    ttl: GUESSES_FORGOTTEN_MS,
    noUpdateTTL: true,
  });
  /**
   * The last key verified on each connection: most clients always send the same key, which need not be hashed again.
   */
  private readonly shown = new WeakMap<object, Shown>();
  /** Number of invalidations: a row read while this changed may be stale. */
  private changes = 0;

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /**
   * Returns the caller of a full key as presented; `undefined` if it is malformed, unknown, wrong, revoked or expired.
   * Synchronous for a key looked up within the last seconds, existing or not, and for one refused as a guess; but for a
   * secret that does not fit, an existing key is looked up once more, since another instance may have rotated it.
   * @param address where it comes from. After too many guesses from there, only keys known to exist are looked up.
   * @param connection the connection it came on; a verified key is remembered for as long as the connection exists.
   */
  recognise(presented: string, address: string, connection?: object): Caller | undefined | Promise<Caller | undefined> {
    const shown = connection && this.shown.get(connection);
    if (shown && this.isCurrent(shown.entry) && isSame(shown.whole, presented))
      return this.admit(shown.entry, shown.endsAt);
    const parsed = parseKey(presented);
    if (!parsed) return undefined;
    const check = (entry: Entry, endsAt = validUntil(parsed.secret, entry.key)) => {
      if (connection && endsAt > 0) this.shown.set(connection, { whole: presented, entry, endsAt });
      return this.admit(entry, endsAt);
    };
    const entry = this.cached(parsed.id);
    if (entry) {
      const endsAt = validUntil(parsed.secret, entry.key);
      if (endsAt > 0 || !entry.key || entry.isRechecked) return check(entry, endsAt);
    }
    if (!this.existing.has(parsed.id) && !this.mayGuess(address)) return undefined;
    const fetched = this.fetching.get(parsed.id) ?? this.fetch(parsed.id, address);
    return fetched.then((read) => check(read));
  }

  /** Invalidates a key that was changed here: the next look-up reads it again. */
  forget(id: string): void {
    this.changes += 1;
    this.entries.delete(id);
    this.fetching.delete(id);
  }

  private cached(id: string): Entry | undefined {
    const entry = this.entries.get(id);
    return entry && performance.now() < entry.until ? entry : undefined;
  }

  /** Whether an entry is still valid; any invalidation since it was read counts, as it may have concerned this key. */
  private isCurrent({ changes, until }: Entry): boolean {
    return changes === this.changes && performance.now() < until;
  }

  /** The key's caller, unless the key is revoked or expired, or the secret has ended. */
  private admit(entry: Entry, endsAt: number): Caller | undefined {
    const { key, caller } = entry;
    if (!key || !caller) return undefined;
    const now = this.now();
    if (endsAt <= now || key.revokedAt || (key.expiresAt && key.expiresAt.getTime() <= now)) return undefined;
    if (now - entry.useNotedAt > USE_NOTED_MS) this.noteUse(key.id, entry, now);
    return caller;
  }

  private mayGuess(address: string): boolean {
    return (this.guesses.get(address) ?? 0) < MAX_GUESSES;
  }

  private fetch(id: string, address: string): Promise<Entry> {
    const fetched = this.read(id, address).finally(() => {
      if (this.fetching.get(id) === fetched) this.fetching.delete(id);
    });
    this.fetching.set(id, fetched);
    return fetched;
  }

  private async read(id: string, address: string): Promise<Entry> {
    const { changes } = this;
    const isRechecked = this.cached(id) !== undefined;
    const key = await this.database.prisma.apiKey.findUnique({ where: { id } });
    const until = performance.now() + CACHED_MS;
    const entry = key
      ? {
          key,
          caller: keyCaller(withoutHashes(key)),
          until,
          changes,
          useNotedAt: key.lastUsedAt?.getTime() ?? 0,
          isRechecked,
        }
      : { until, changes, useNotedAt: 0, isRechecked };
    if (key) this.existing.set(id, true);
    else this.guesses.set(address, (this.guesses.get(address) ?? 0) + 1);
    if (changes === this.changes) this.entries.set(id, entry);
    return entry;
  }

  /** Fire-and-forget: if it fails, a later use is recorded instead. */
  private noteUse(id: string, entry: Entry, now: number): void {
    entry.useNotedAt = now;
    this.database.prisma.apiKey
      .updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
      .catch(() => undefined);
  }
}

function withoutHashes({ secretHash: _, previousSecretHash: __, ...rest }: ApiKey) {
  return rest;
}
