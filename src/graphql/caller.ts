import { ALL_ROWS, UNOWNED_ROWS, type Visibility } from '../database/visibility';
import type { Subject } from '../rate-limit/limit-status';
import { describedEnum } from './enums';

/** What a caller may do. Keys are never granted ORDER, so it is not a value in the database. */
export const Scope = { READ: 'READ', ORDER: 'ORDER', WRITE: 'WRITE', ADMIN: 'ADMIN' } as const;
export type Scope = keyof typeof Scope;

/** The sender of a request: the identity whose requests are counted, and its scopes. */
export interface Caller extends Subject {
  readonly scopes: ReadonlySet<Scope>;
  /** The id of the API key; `undefined` for end users and anonymous callers. */
  readonly keyId?: string;
  /** The end user's id, as the owner of rows; `undefined` for keys and anonymous callers. */
  readonly user?: string;
  /** The client's address as a rate-limit subject, for an end user; `undefined` for other callers. */
  readonly address?: string;
  /** When an end user's token ends, in milliseconds since the Unix epoch; `undefined` for other callers. */
  readonly expiresAt?: number;
}

/**
 * The visible rows of tables whose rows have owners. Keys and users with the scope WRITE see all rows. A user without WRITE
 * sees only rows that belong to this user. All other callers, including anonymous callers with any scope, see only rows without
 * an owner.
 */
export function visibilityOf({ keyId, user, scopes }: Caller): Visibility {
  if (scopes.has('WRITE') && (keyId !== undefined || user !== undefined)) return ALL_ROWS;
  return user === undefined ? UNOWNED_ROWS : { kind: 'owned', by: user };
}

describedEnum(Scope, 'Scope', 'What a caller may do.', {
  READ: 'Queries and subscriptions.',
  ORDER: 'Placing, changing and cancelling orders, and everything that READ allows. Granted only to end users.',
  WRITE: 'Mutations of the store, and everything that ORDER allows.',
  ADMIN: 'API keys and bans, and everything that WRITE allows.',
});
