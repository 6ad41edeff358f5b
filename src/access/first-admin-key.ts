import type { Database } from '../database/database';
import { lock } from '../database/raw-queries';
import { formatKey, hashSecret, type KeyParts, newKey, parseKey, validUntil } from './secret';

/**
 * Ensures that an admin key exists: `given` if it is set, otherwise a new one if the database has no key at all.
 * @param now milliseconds of the Unix epoch.
 * @returns the full text of a generated key, to be shown once.
 * @throws Error if a key with the given id exists with another secret: the given key would not work.
 */
export function ensureAdminKey(
  database: Database,
  given: string | undefined,
  now: number,
): Promise<string | undefined> {
  const key = given === undefined ? newKey() : parseKey(given);
  if (!key) throw new Error('ADMIN_API_KEY is not of the form ps_<key id>_<secret>');
  return database.transaction(async (tx) => {
    await lock(tx, 'apiKeys');
    const known = await tx.prisma.apiKey.findFirst(given === undefined ? undefined : { where: { id: key.id } });
    if (known && given !== undefined && validUntil(key.secret, known) <= now)
      throw new Error(`ADMIN_API_KEY has a different secret from the existing key ${key.id}.`);
    if (known) return undefined;
    await tx.prisma.apiKey.create({ data: adminKey(key) });
    return given === undefined ? formatKey(key) : undefined;
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
