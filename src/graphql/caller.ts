import { Scope } from '../database/generated/enums';
import { ALL_ROWS, UNOWNED_ROWS, type Visibility } from '../database/visibility';
import type { Subject } from '../rate-limit/limit-status';
import { describedEnum } from './enums';

export { Scope };

/** The sender of a request: the identity whose requests are counted, and its scopes. */
export interface Caller extends Subject {
  readonly scopes: ReadonlySet<Scope>;
  /** The end user, as the owner of rows; `undefined` for keys and anonymous callers. */
  readonly user?: string;
}

/**
 * The visible rows of tables whose rows have owners. Keys and users with the scope WRITE see all rows. A user without it sees
 * only its own rows. All other callers, anonymous ones with any scope included, see only rows without an owner.
 */
export function visibilityOf({ keyId, user, scopes }: Caller): Visibility {
  if (scopes.has('WRITE') && (keyId !== undefined || user !== undefined)) return ALL_ROWS;
  return user === undefined ? UNOWNED_ROWS : { kind: 'owned', by: user };
}

describedEnum(Scope, 'Scope', 'What a caller may do.', {
  READ: 'Queries and subscriptions.',
  WRITE: 'Mutations of the store, and everything that READ allows.',
  ADMIN: 'API keys and bans, and everything that WRITE allows.',
});
