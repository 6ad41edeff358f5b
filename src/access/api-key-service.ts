import { lock } from '../database/advisory-locks';
import type { Database, Session, Transaction } from '../database/database';
import type { ApiKey } from '../database/generated/client';
import { Scope as KeyScope } from '../database/generated/enums';
import { MOST_COUNTED, totalOf } from '../database/reading/count';
import { decodeCursor, encodeCursor, tagOf } from '../database/reading/cursor';
import { badInput, ProblemError, unknownReference } from '../errors/errors';
import { Checks, MISSING, NOT_A_CURSOR, PAGE_SIZE, SEARCH } from '../errors/input-checks';
import type { AdminTopic } from '../events/topics';
import { requireScope } from '../graphql/admission';
import { checkInput, rulesOf } from '../graphql/bounds';
import type { Scope } from '../graphql/caller';
import { Connection, DEFAULT_PAGE } from '../graphql/connection';
import type { Account, StoredKey } from './account';
import type { KeyAuthenticator } from './key-authenticator';
import { formatKey, hasEnded, hashSecret, type KeyParts, newKey, parseKey, validUntil } from './key-format';
import { ApiKeyUpdate, GRACE, NewApiKey } from './types';

/**
 * Omits the hashes of secrets, which only verification and rotation need. Includes the plan and limits of the key whose quota a
 * key shares. {@link storedKey} converts the result.
 */
const READ = {
  omit: { secretHash: true, previousSecretHash: true },
  include: { quotaOwner: { select: { plan: true, perMinute: true, perDay: true } } },
} as const;

/** A key with the plan and limits that apply to it. */
function storedKey({
  quotaOwner,
  ...key
}: StoredKey & { quotaOwner: Pick<StoredKey, 'plan' | 'perMinute' | 'perDay'> | null }) {
  return { ...key, ...quotaOwner } satisfies StoredKey;
}

/**
 * Creates, changes and revokes API keys (docs/keys.md). Updates and rotations run one at a time, so that no concurrent update or
 * rotation can invalidate their checks. They are rare, so they seldom wait for each other.
 */
export class ApiKeyService {
  /** @param now milliseconds since the Unix epoch. */
  constructor(
    private readonly authenticator: Pick<KeyAuthenticator, 'forget'>,
    private readonly now: () => number,
  ) {}

  /** Finds keys. Ids without a key are absent from the map. */
  async find(session: Session, ids: readonly string[]): Promise<Map<string, StoredKey>> {
    const found = await session.transaction(({ prisma }) =>
      prisma.apiKey.findMany({ where: { id: { in: [...ids] } }, ...READ }),
    );
    return new Map(found.map((key) => [key.id, storedKey(key)]));
  }

  /** @returns the key and its full text, which is not stored anywhere. @throws ProblemError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`. */
  async create(session: Session, input: NewApiKey): Promise<{ apiKey: StoredKey; secret: string }> {
    const { sharesQuotaOf, ...data } = check(input);
    const key = newKey();
    const row = { ...data, sharesQuotaOf, id: key.id, secretHash: hashSecret(key.secret) };
    const apiKey = await session.transaction(async (tx) => {
      if (sharesQuotaOf !== null) await this.requireQuotaOwner(tx, sharesQuotaOf);
      await record(tx, 'CREATED', key.id);
      return tx.prisma.apiKey.create({ data: row, ...READ });
    });
    return { apiKey: storedKey(apiKey), secret: formatKey(key) };
  }

  /** Changes only the fields that the input contains. @throws ProblemError `BAD_USER_INPUT`, `NOT_FOUND`. */
  async update(session: Session, id: string, input: ApiKeyUpdate): Promise<StoredKey> {
    checkInput(ApiKeyUpdate, input);
    const updated = await session.transaction(async (tx) => {
      await lock(tx, 'apiKeys');
      const known = await tx.prisma.apiKey.findUnique({ where: { id }, omit: READ.omit });
      if (!known) throw unknownKey(id);
      if (known.sharesQuotaOf !== null) rejectQuota(input);
      const { sharesQuotaOf: _, ...data } = check(merge(known, input));
      await record(tx, 'UPDATED', id);
      return tx.prisma.apiKey.update({ where: { id }, data, ...READ });
    });
    this.authenticator.forget(id);
    return storedKey(updated);
  }

  /**
   * Replaces the secret of a key. The old secret is accepted until the grace period ends; all earlier secrets are rejected.
   * Takes effect at once on this instance, within seconds on others.
   * @param by the caller. It must be the key itself, with its current secret, or have the scope ADMIN.
   * @param graceSeconds how long the old secret is accepted; 0 rejects it at once.
   * @returns the key and its new full text, which is not stored anywhere.
   * @throws ProblemError `BAD_USER_INPUT`, for example if the key is revoked or has expired; `NOT_FOUND`.
   */
  async rotate(
    session: Session,
    by: Account,
    id: string,
    graceSeconds: number,
  ): Promise<{ apiKey: StoredKey; secret: string }> {
    const checks = new Checks();
    checks.value('graceSeconds', GRACE, graceSeconds);
    checks.done();
    requireSelfOrAdmin(by, id);
    const { secret } = newKey();
    const now = this.now();
    const apiKey = await session.transaction(async (tx) => {
      await lock(tx, 'apiKeys');
      const known = await tx.prisma.apiKey.findUnique({ where: { id } });
      if (!known) throw unknownKey(id);
      requireCurrentSecret(by, known);
      if (hasEnded(known, now)) throw endedKey('id', known);
      const previous = {
        previousSecretHash: graceSeconds ? known.secretHash : null,
        previousSecretUntil: graceSeconds ? new Date(now + graceSeconds * 1000) : null,
      };
      await record(tx, 'ROTATED', id);
      return tx.prisma.apiKey.update({
        where: { id },
        data: { secretHash: hashSecret(secret), ...previous },
        ...READ,
      });
    });
    this.authenticator.forget(id);
    return { apiKey: storedKey(apiKey), secret: formatKey({ id, secret }) };
  }

  /**
   * Revokes a key: at once on this instance, within seconds on others. Revoking again has no effect.
   * @param by see {@link rotate}.
   * @throws ProblemError `NOT_FOUND`, `FORBIDDEN`.
   */
  async revoke(session: Session, by: Account, id: string): Promise<StoredKey> {
    requireSelfOrAdmin(by, id);
    const revoked = await session.transaction(async (tx) => {
      await lock(tx, 'apiKeys');
      const known = await tx.prisma.apiKey.findUnique({ where: { id } });
      if (!known) throw unknownKey(id);
      requireCurrentSecret(by, known);
      const data = { revokedAt: known.revokedAt ?? new Date() };
      await record(tx, 'REVOKED', id);
      return tx.prisma.apiKey.update({ where: { id }, data, ...READ });
    });
    this.authenticator.forget(id);
    return storedKey(revoked);
  }

  /**
   * Lifts a ban. Bans are not stored in the database: if the process crashes after the ban is lifted and before the commit, the
   * event is lost.
   * @param caller the banned caller.
   * @param lift lifts the ban, and returns whether the caller was banned.
   */
  async liftBan(session: Session, caller: string, lift: () => Promise<boolean>): Promise<boolean> {
    const lifted = session.transaction(async (tx) => {
      await record(tx, 'BAN_LIFTED', caller);
      if (!(await lift())) throw NOTHING_LIFTED;
      return true;
    });
    return lifted.catch((error: unknown) => {
      if (error === NOTHING_LIFTED) return false;
      throw error;
    });
  }

  /** When the previous secret expires; `null` if no previous secret is accepted. */
  oldSecretExpiresAt({ previousSecretUntil }: StoredKey): Date | null {
    return previousSecretUntil && previousSecretUntil.getTime() > this.now() ? previousSecretUntil : null;
  }

  /**
   * Checks that other keys can share the quota of a key. The lock keeps the result valid until the transaction ends.
   * @throws ProblemError `UNKNOWN_REFERENCE`, `BAD_USER_INPUT`.
   */
  private async requireQuotaOwner(tx: Transaction, id: string): Promise<void> {
    await lock(tx, 'apiKeys');
    const owner = await tx.prisma.apiKey.findUnique({ where: { id }, omit: READ.omit });
    if (!owner) throw unknownReference(SHARES, 'API key', id);
    if (hasEnded(owner, this.now())) throw endedKey(SHARES, owner);
    if (owner.sharesQuotaOf !== null)
      throw badInput({ path: SHARES, message: 'names a key that itself shares the quota of another key' });
  }
}

/** The events of key administration. */
export const KEY_TOPIC = {
  scope: 'ADMIN',
  description: 'API keys and bans.',
  kinds: {
    CREATED: 'Created.',
    UPDATED: 'Written, possibly with the same values.',
    ROTATED: 'An API key got a new secret.',
    REVOKED: 'An API key was revoked.',
    BAN_LIFTED: "A caller's ban was lifted.",
  },
} as const satisfies AdminTopic;
type KeyEventKind = keyof typeof KEY_TOPIC.kinds;

/** Writes an event of key administration. @param id the key's id, or the banned caller. */
function record(tx: Transaction, kind: KeyEventKind, id: string): Promise<void> {
  return tx.record({ topic: 'api_key', kind, objectId: id });
}

/** Rolls back the event of a ban that did not exist. */
const NOTHING_LIFTED = new Error('The caller is not banned.');

const SHARES = 'input.sharesQuotaOf';

/**
 * @throws ProblemError `FORBIDDEN` (anonymous callers: `UNAUTHENTICATED`) if a caller without the scope ADMIN names another key.
 */
function requireSelfOrAdmin(by: Account, id: string): void {
  if (by.keyId !== id) requireScope(by, 'ADMIN');
}

/**
 * Compares the secret under the lock, since another instance may have rotated the key just before.
 * @throws ProblemError `FORBIDDEN` if a key changes itself with an old secret.
 */
function requireCurrentSecret({ keyId, secretHash }: Account, key: Pick<ApiKey, 'id' | 'secretHash'>): void {
  if (keyId !== key.id || (secretHash && Buffer.compare(secretHash, key.secretHash) === 0)) return;
  throw new ProblemError('FORBIDDEN', 'A key can rotate or revoke itself only with its current secret.');
}

/** @throws ProblemError `BAD_USER_INPUT` if an update sets the quota of a key that shares another key's quota. */
function rejectQuota(input: ApiKeyUpdate): void {
  const checks = new Checks();
  for (const field of ['plan', 'perMinute', 'perDay'] as const)
    if (input[field] != null)
      checks.fail(`input.${field}`, { message: 'must not be given: the key shares the quota of another key' });
  checks.done();
}

/**
 * Merges an update into a key. If the new plan is not ENTERPRISE, the key loses its custom limits. Custom limits in the
 * input are kept, so that `check` rejects them.
 */
function merge(known: StoredKey, input: ApiKeyUpdate): NewApiKey {
  const plan = input.plan ?? known.plan;
  const kept = plan === 'ENTERPRISE' ? known : { perMinute: null, perDay: null };
  return {
    name: input.name ?? known.name,
    plan,
    scopes: input.scopes ?? known.scopes,
    perMinute: input.perMinute === undefined ? kept.perMinute : input.perMinute,
    perDay: input.perDay === undefined ? kept.perDay : input.perDay,
    expiresAt: input.expiresAt === undefined ? known.expiresAt : input.expiresAt,
  };
}

function check(input: NewApiKey) {
  const checks = new Checks();
  const { name, expiresAt = null } = checks.input(rulesOf(NewApiKey), input);
  const plan = input.plan ?? 'FREE';
  const scopes = [...new Set(input.scopes)].filter(isKeyScope);
  const sharesQuotaOf = input.sharesQuotaOf == null ? null : String(input.sharesQuotaOf);
  if (input.scopes.some((scope) => !isKeyScope(scope)))
    checks.fail('input.scopes', { message: 'must not contain ORDER, which only end users are granted' });
  else if (!scopes.length) checks.fail('input.scopes', { message: 'must name at least one scope' });
  if (sharesQuotaOf !== null && input.plan !== undefined)
    checks.fail('input.plan', { message: 'must not be given together with sharesQuotaOf' });
  const limit = (field: 'perMinute' | 'perDay') => {
    const value = input[field] ?? null;
    const path = `input.${field}`;
    if (sharesQuotaOf !== null) {
      if (value !== null) checks.fail(path, { message: 'must not be given together with sharesQuotaOf' });
    } else if (plan === 'ENTERPRISE') {
      if (value === null) checks.fail(path, { ...MISSING, message: 'must be given for the plan ENTERPRISE' });
    } else if (value !== null) checks.fail(path, { message: `must not be given for the plan ${plan}` });
    return value;
  };
  const [perMinute, perDay] = [limit('perMinute'), limit('perDay')];
  checks.done();
  return { name, plan, scopes, perMinute, perDay, expiresAt, sharesQuotaOf };
}

function isKeyScope(scope: Scope): scope is KeyScope {
  return scope in KeyScope;
}

function endedKey(path: string, { revokedAt }: Pick<StoredKey, 'revokedAt'>): ProblemError {
  return badInput({ path, message: `names a key that ${revokedAt ? 'is revoked' : 'has expired'}` });
}

function unknownKey(id: string): ProblemError {
  return new ProblemError('NOT_FOUND', `API key ${id} does not exist.`);
}

const LIST = tagOf('apiKeys');
/** The last millisecond of the year 9999. */
const LATEST = 253402300799999;

interface KeyPage {
  readonly first?: number | null;
  readonly after?: string | null;
  /** A part of the name, ignoring case, or the beginning of the id. */
  readonly search?: string | null;
  /**
   * True lists the keys that are neither revoked nor expired; false lists all other keys. By default all keys are listed.
   */
  readonly isActive?: boolean | null;
}

/** Lists keys, newest first. @throws ProblemError `BAD_USER_INPUT`. */
export async function listKeys(
  session: Session,
  { first, after, search, isActive }: KeyPage,
): Promise<Connection<StoredKey>> {
  const checks = new Checks();
  const limit = checks.value('first', PAGE_SIZE, first ?? DEFAULT_PAGE);
  checks.value('search', SEARCH, search);
  const bound = after == null ? undefined : decodeCursor(LIST, 'text', after);
  const createdAt = bound && new Date(Math.min(Number(bound.id), LATEST));
  if (after != null && !bound) checks.fail('after', NOT_A_CURSOR);
  checks.done();
  const older = createdAt && { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: bound.key } }] };
  const matching = [...containing(search), ...(isActive == null ? [] : [isActive ? active() : { NOT: active() }])];
  const keys = await session.transaction(({ prisma }) =>
    prisma.apiKey.findMany({
      where: { AND: [...matching, ...(older ? [older] : [])] },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
      ...READ,
    }),
  );
  const next = keys.length > limit;
  return new Connection(
    keys.slice(0, limit).map(storedKey),
    ({ id, createdAt }) => encodeCursor(LIST, { id: String(createdAt.getTime()), key: id }),
    { next, previous: bound !== undefined },
    async () =>
      totalOf(
        await session.transaction(({ prisma }) =>
          prisma.apiKey.count({ where: { AND: matching }, take: MOST_COUNTED + 1 }),
        ),
      ),
  );
}

function containing(search: string | null | undefined) {
  const text = search?.trim();
  if (!text) return [];
  // Prisma does not escape the wildcards of LIKE.
  const contains = text.replace(/[\\%_]/g, '\\$&');
  return [
    { OR: [{ name: { contains, mode: 'insensitive' as const } }, { id: { startsWith: contains.toLowerCase() } }] },
  ];
}

function active() {
  return { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] };
}

/**
 * Adds the admin key `given` if it does not exist yet. Without `given`, adds a new admin key if the database has no keys.
 * @param now milliseconds since the Unix epoch.
 * @returns the full text of the key, if this call created it as the first key of the database.
 * @throws Error if `given` is malformed, or if it has the id of an existing key, but not its secret.
 */
export function ensureAdminKey(
  database: Database,
  given: string | undefined,
  now: number,
): Promise<string | undefined> {
  const key = given === undefined ? newKey() : parseKey(given);
  if (!key) throw new Error('ADMIN_API_KEY is not of the form ps_<key id>_<secret>');
  return database.serviceSession().transaction(async (tx) => {
    await lock(tx, 'apiKeys');
    const known = await tx.prisma.apiKey.findFirst(given === undefined ? undefined : { where: { id: key.id } });
    if (known && given !== undefined && !(validUntil(key.secret, known) > now))
      throw new Error(`ADMIN_API_KEY has a different secret from the existing key ${key.id}.`);
    if (known) return undefined;
    const isFirst = given === undefined || !(await tx.prisma.apiKey.findFirst());
    await tx.prisma.apiKey.create({ data: adminKey(key) });
    await record(tx, 'CREATED', key.id);
    return isFirst ? formatKey(key) : undefined;
  });
}

function adminKey({ id, secret }: KeyParts) {
  return {
    id,
    secretHash: hashSecret(secret),
    name: 'first admin key',
    plan: 'ENTERPRISE' as const,
    scopes: ['ADMIN' as const],
    perMinute: 10_000,
    perDay: 1_000_000,
  };
}
