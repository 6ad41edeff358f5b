import type { Session } from '../database/database';
import { MOST_COUNTED, totalOf } from '../database/reading/count';
import { Checks } from '../errors/checks';
import { NAME_FILTER, PAGE_SIZE } from '../errors/input-rules';
import { Connection, DEFAULT_PAGE } from '../graphql/connection';
import { decodeCursor, encodeCursor } from '../graphql/cursor';
import { NO_HASHES } from './api-key-service';
import type { StoredKey } from './caller';

const LIST = 'apiKeys';
/** The last millisecond of the year 9999. */
const LATEST = 253402300799999;

export interface KeyPage {
  readonly first?: number | null;
  readonly after?: string | null;
  /** In the name in any case, or at the beginning of the id. */
  readonly search?: string | null;
  /** Whether it is neither revoked nor expired. */
  readonly isActive?: boolean | null;
}

/** Lists keys, newest first. @throws DomainError `BAD_USER_INPUT`. */
export async function listKeys(
  session: Session,
  { first, after, search, isActive }: KeyPage,
): Promise<Connection<StoredKey>> {
  const checks = new Checks();
  const limit = checks.value('first', PAGE_SIZE, first ?? DEFAULT_PAGE);
  checks.value('search', NAME_FILTER, search);
  const bound = after == null ? undefined : decodeCursor(LIST, 'text', after);
  const createdAt = bound && new Date(Math.min(Number(bound.id), LATEST));
  if (after != null && !bound) checks.fail('after', 'is not a cursor of this list');
  checks.done();
  const older = createdAt && { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: bound.key } }] };
  const matching = [...containing(search), ...(isActive == null ? [] : [isActive ? active() : { NOT: active() }])];
  const keys = await session.transaction(({ prisma }) =>
    prisma.apiKey.findMany({
      where: { AND: [...matching, ...(older ? [older] : [])] },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
      omit: NO_HASHES,
    }),
  );
  const next = keys.length > limit;
  return new Connection(
    keys.slice(0, limit),
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
  // Prisma takes the wildcards of LIKE as they are.
  const contains = text.replace(/[\\%_]/g, '\\$&');
  return [
    { OR: [{ name: { contains, mode: 'insensitive' as const } }, { id: { startsWith: contains.toLowerCase() } }] },
  ];
}

function active() {
  return { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] };
}
