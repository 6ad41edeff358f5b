import type { Database, Session } from '../database/database';
import type { Plan, Scope } from '../database/generated/client';
import { lock } from '../database/raw-queries';
import { MOST_COUNTED, totalOf } from '../database/reading/count';
import { Checks, checkInput } from '../domain/checks';
import { Connection, DEFAULT_PAGE } from '../domain/connection';
import { decodeCursor, encodeCursor } from '../domain/cursor';
import { DomainError } from '../domain/domain-error';
import { NAME, NOT_NULL, PAGE_SIZE, QUANTITY, type Rules } from '../domain/input-rules';
import type { StoredKey } from './caller';
import type { KeyRing } from './key-ring';
import { formatKey, hashSecret, isSecret, type KeyParts, newKey, parseKey } from './secret';

export interface NewApiKey {
  name: string;
  plan: Plan;
  scopes: Scope[];
  perMinute?: number | null;
  perDay?: number | null;
  expiresAt?: Date | null;
}

export type ApiKeyUpdate = { [field in keyof NewApiKey]?: NewApiKey[field] | null };

export const NEW_API_KEY: Rules<NewApiKey> = { name: NAME, perMinute: QUANTITY, perDay: QUANTITY };
export const API_KEY_UPDATE: Rules<ApiKeyUpdate> = {
  ...NEW_API_KEY,
  name: { ...NAME, ...NOT_NULL },
  plan: NOT_NULL,
  scopes: NOT_NULL,
};

const LIST = 'apiKeys';
/** The last millisecond of the year 9999. */
const LATEST = 253402300799999;
/** The hash of the secret is never read. */
const omit = { secretHash: true } as const;

/**
 * Creates, changes and revokes API keys (contract, section 6). Changes are rare: running them one at a time ensures that
 * what is written is what was checked.
 */
export class ApiKeyService {
  constructor(private readonly ring: KeyRing) {}

  /** @returns the key and its full text, which is not stored anywhere. @throws DomainError `BAD_USER_INPUT`. */
  async create(session: Session, input: NewApiKey): Promise<{ apiKey: StoredKey; secret: string }> {
    const data = check(input);
    const key = newKey();
    const apiKey = await session.prisma.apiKey.create({
      data: { ...data, id: key.id, secretHash: hashSecret(key.secret) },
      omit,
    });
    return { apiKey, secret: formatKey(key) };
  }

  /** Changes the fields in the input. @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND`. */
  async update(session: Session, id: string, input: ApiKeyUpdate): Promise<StoredKey> {
    checkInput(API_KEY_UPDATE, input);
    const updated = await session.transaction(async (tx) => {
      await lock(tx, 'apiKeys');
      const known = await tx.prisma.apiKey.findUnique({ where: { id }, omit });
      if (!known) throw unknownKey(id);
      return tx.prisma.apiKey.update({ where: { id }, data: check(merge(known, input)), omit });
    });
    this.ring.forget(id);
    return updated;
  }

  /**
   * Takes effect at once here, within seconds on other instances. Revoking again has no effect.
   * @throws DomainError `NOT_FOUND`.
   */
  async revoke(session: Session, id: string): Promise<StoredKey> {
    await session.prisma.apiKey.updateMany({
      where: { id, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    this.ring.forget(id);
    const revoked = await session.prisma.apiKey.findUnique({ where: { id }, omit });
    if (!revoked) throw unknownKey(id);
    return revoked;
  }

  /** Lists all keys, newest first. @throws DomainError `BAD_USER_INPUT`. */
  async list(session: Session, first?: number | null, after?: string | null): Promise<Connection<StoredKey>> {
    const checks = new Checks();
    const limit = checks.value('first', PAGE_SIZE, first ?? DEFAULT_PAGE);
    const bound = after == null ? undefined : decodeCursor(LIST, 'text', after);
    const createdAt = bound && new Date(Math.min(Number(bound.id), LATEST));
    if (after != null && !bound) checks.fail('after', 'is not a cursor of this list');
    checks.done();
    const keys = await session.prisma.apiKey.findMany({
      where: createdAt && { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: bound.key } }] },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
      omit,
    });
    const next = keys.length > limit;
    return new Connection(
      keys.slice(0, limit),
      ({ id, createdAt }) => encodeCursor(LIST, { id: String(createdAt.getTime()), key: id }),
      { next, previous: bound !== undefined },
      async () => totalOf(await session.prisma.apiKey.count({ take: MOST_COUNTED + 1 })),
    );
  }

  /**
   * Ensures that an admin key exists: `given` if it is set, otherwise a new one if the database has no key at all.
   * @returns the full text of a generated key, to be shown once.
   * @throws Error if a key with the given id exists with another secret: the given key would not work.
   */
  async bootstrap(database: Database, given: string | undefined): Promise<string | undefined> {
    const key = given === undefined ? newKey() : parseKey(given);
    if (!key) throw new Error('ADMIN_API_KEY is not of the form ps_<key id>_<secret>');
    return database.transaction(async (tx) => {
      await lock(tx, 'apiKeys');
      const known = await tx.prisma.apiKey.findFirst(given === undefined ? undefined : { where: { id: key.id } });
      if (known && given !== undefined && !isSecret(key.secret, known.secretHash))
        throw new Error(`ADMIN_API_KEY has a different secret from the existing key ${key.id}.`);
      if (known) return undefined;
      await tx.prisma.apiKey.create({ data: adminKey(key) });
      return given === undefined ? formatKey(key) : undefined;
    });
  }
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

/** A key whose plan is no longer ENTERPRISE loses its own limits, unless the input sets them too. */
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

function check(input: NewApiKey): NewApiKey {
  const checks = new Checks();
  const { name, plan, expiresAt = null } = checks.input(NEW_API_KEY, input);
  const scopes = [...new Set(input.scopes)];
  if (!scopes.length) checks.fail('input.scopes', 'must name at least one scope');
  const limit = (field: 'perMinute' | 'perDay') => {
    const value = input[field] ?? null;
    const path = `input.${field}`;
    if (plan === 'ENTERPRISE' && value === null) checks.fail(path, 'must be given for the plan ENTERPRISE');
    if (plan !== 'ENTERPRISE' && value !== null) checks.fail(path, `must not be given for the plan ${plan}`);
    return value;
  };
  const checked = { name, plan, scopes, perMinute: limit('perMinute'), perDay: limit('perDay'), expiresAt };
  checks.done();
  return checked;
}

function unknownKey(id: string): DomainError {
  return new DomainError('NOT_FOUND', `API key ${id} does not exist.`);
}
