import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database';
import type { ApiKey } from '../database/generated/client';
import type { Keys } from '../http/caller';
import { type Account, keyCaller } from './caller';
import { isSame, parseKey, validUntil } from './key-format';

/** How long a look-up is cached: a revocation on another instance takes effect within this time. */
const CACHED_MS = 5_000;
/** Minimum interval between two updates of a key's last use. */
const USE_NOTED_MS = 60_000;
const MAX_KEYS = 10_000;

const NO_KEY = 'Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>.';
const UNKNOWN_KEY = 'The API key is unknown, or its secret is wrong.';

/** A look-up of a key, which may not exist. */
interface Entry {
  readonly id: string;
  readonly key: ApiKey | undefined;
  readonly caller: Account | undefined;
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
export class KeyCache implements Keys {
  private readonly entries = new LRUCache<string, Entry>({
    max: MAX_KEYS,
    ttl: CACHED_MS,
    // Read the clock for each look-up instead of keeping it by timers.
    ttlResolution: 0,
    perf: performance,
    fetchMethod: (id) => this.read(id),
    // A look-up that is overtaken by a change still answers those who wait for it, but is not cached.
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
  });
  /**
   * The last key verified on each connection: most clients always send the same key, which need not be hashed again.
   */
  private readonly shown = new WeakMap<object, Shown>();

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /**
   * Returns the caller of a full key as presented; `undefined` if it is malformed, unknown, wrong, revoked or expired.
   * Synchronous for a key looked up within the last seconds, existing or not; but for a secret that does not fit, an
   * existing key is looked up once more, since another instance may have rotated it.
   * @param connection the connection it came on; a verified key is remembered for as long as the connection exists.
   */
  recognise(presented: string, connection?: object): Account | undefined | Promise<Account | undefined> {
    const shown = connection && this.shown.get(connection);
    if (shown && this.entries.get(shown.entry.id) === shown.entry && isSame(shown.whole, presented))
      return this.admit(shown.entry, shown.endsAt);
    const parsed = parseKey(presented);
    if (!parsed) return undefined;
    const check = (entry: Entry, endsAt = validUntil(parsed.secret, entry.key)) => {
      if (connection && endsAt > 0) this.shown.set(connection, { whole: presented, entry, endsAt });
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
   * Why a key that {@link recognise} has just not accepted is refused. Who has its secret is told what became of it; for
   * all others text and time are the same, whether there is a key with this id or not.
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

  /** Invalidates a key that was changed here: the next look-up reads it again. */
  forget(id: string): void {
    this.entries.delete(id);
  }

  /** The key's caller, unless the key is revoked or expired, or the secret has ended. */
  private admit(entry: Entry, endsAt: number): Account | undefined {
    const { key, caller } = entry;
    if (!key || !caller) return undefined;
    const now = this.now();
    if (endsAt <= now || key.revokedAt || (key.expiresAt && key.expiresAt.getTime() <= now)) return undefined;
    if (now - entry.useNotedAt > USE_NOTED_MS) this.noteUse(key.id, entry, now);
    return caller;
  }

  private async read(id: string): Promise<Entry> {
    const key = (await this.database.prisma.apiKey.findUnique({ where: { id } })) ?? undefined;
    return {
      id,
      key,
      caller: key && keyCaller(withoutHashes(key)),
      useNotedAt: key?.lastUsedAt?.getTime() ?? 0,
      isRechecked: false,
    };
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
