import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database';
import type { ApiKey } from '../database/generated/client';
import { type Caller, keyCaller } from './caller';
import { isSame, isSecret, parseKey } from './secret';

/** How long a key is believed to be what it was: a revocation on another instance takes effect within it. */
const BELIEVED_MS = 5_000;
/** The least time between two notes of a key's last use. */
const USE_NOTED_MS = 60_000;
const MAX_KEYS = 10_000;
/** Keys that do not exist which one address may have looked up in a minute: more than it takes to be banned. */
const MAX_GUESSES = 100;
const GUESSES_FORGOTTEN_MS = 60_000;

/** Compared with where there is no such key, so that the answer takes as long as for a wrong secret. */
const NOBODY = new Uint8Array(32);

interface Entry {
  readonly key?: ApiKey;
  readonly caller?: Caller;
  /** Until when it is believed, on the clock of {@link performance.now}. */
  readonly until: number;
  /** How often something had been forgotten when it was read. */
  readonly changes: number;
  useNotedAt: number;
}

/** A whole key that was right. */
interface Shown {
  readonly whole: string;
  readonly entry: Entry;
}

/** Recognises callers by their keys. */
export class KeyRing {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_KEYS });
  /** Look-ups that are under way: a busy key whose entry has just run out is looked up once. */
  private readonly fetching = new Map<string, Promise<Entry>>();
  /** Keys that there were when they were last looked up. */
  private readonly existing = new LRUCache<string, true>({ max: MAX_KEYS });
  /** How many look-ups of an address found nothing. */
  private readonly guesses = new LRUCache<string, number>({
    max: MAX_KEYS,
    ttl: GUESSES_FORGOTTEN_MS,
    noUpdateTTL: true,
  });
  /** What each connection showed last: most send the same key with every request, which need not be hashed each time. */
  private readonly shown = new WeakMap<object, Shown>();
  /** How often something was forgotten: what was read meanwhile may be what it was before. */
  private changes = 0;

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /**
   * The caller of a whole key as it was presented; `undefined` when it is malformed, unknown, wrong, revoked or expired.
   * Answers at once for a key that was seen within seconds, existing or not, and for one that is only guessed.
   * @param address where it comes from. Where many were guessed only keys that were right here before are looked up.
   * @param connection what it came on, for as long as which it is remembered.
   */
  recognise(
    presented: string,
    address: string,
    connection?: object,
  ): Caller | undefined | Promise<Caller | undefined> {
    const shown = connection && this.shown.get(connection);
    if (shown && this.isCurrent(shown.entry) && isSame(shown.whole, presented))
      return this.admit(shown.entry);
    const parsed = parseKey(presented);
    if (!parsed) return undefined;
    const check = (entry: Entry) => {
      if (!isSecret(parsed.secret, entry.key?.secretHash ?? NOBODY)) return undefined;
      if (connection) this.shown.set(connection, { whole: presented, entry });
      return this.admit(entry);
    };
    const entry = this.entries.get(parsed.id);
    if (entry && performance.now() < entry.until) return check(entry);
    if (!this.existing.has(parsed.id) && !this.mayGuess(address)) return undefined;
    const fetched = this.fetching.get(parsed.id) ?? this.fetch(parsed.id, address);
    return fetched.then(check);
  }

  /** Makes the next look-up of a key read it anew: after it was changed here. */
  forget(id: string): void {
    this.changes += 1;
    this.entries.delete(id);
    this.fetching.delete(id);
  }

  /** Whether what was read can be believed without asking what has been forgotten: that may have been this key. */
  private isCurrent({ changes, until }: Entry): boolean {
    return changes === this.changes && performance.now() < until;
  }

  /** The caller whose key this is, unless it has been revoked or has expired. */
  private admit(entry: Entry): Caller | undefined {
    const { key, caller } = entry;
    if (!key || !caller) return undefined;
    const now = this.now();
    if (key.revokedAt || (key.expiresAt && key.expiresAt.getTime() <= now)) return undefined;
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
    const key = await this.database.prisma.apiKey.findUnique({ where: { id } });
    const until = performance.now() + BELIEVED_MS;
    const entry = key
      ? {
          key,
          caller: keyCaller(withoutHash(key)),
          until,
          changes,
          useNotedAt: key.lastUsedAt?.getTime() ?? 0,
        }
      : { until, changes, useNotedAt: 0 };
    if (key) this.existing.set(id, true);
    else this.guesses.set(address, (this.guesses.get(address) ?? 0) + 1);
    if (changes === this.changes) this.entries.set(id, entry);
    return entry;
  }

  /** Not waited for, and lost if it fails: the next use is noted again. */
  private noteUse(id: string, entry: Entry, now: number): void {
    entry.useNotedAt = now;
    this.database.prisma.apiKey
      .updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
      .catch(() => undefined);
  }
}

function withoutHash({ secretHash: _, ...rest }: ApiKey) {
  return rest;
}
